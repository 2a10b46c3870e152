// Damaged configs: every one is read or refused, and whatever is read has a
// layout, warnings and a weight count without overflow. Meant for sanitizers.

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "models/catalogue.h"
#include "models/layout_builder.h"
#include "models/layout_warnings.h"
#include "models/model_config.h"
#include "models/parameter_count.h"

namespace kvsim {
namespace {

constexpr int kMutationsPerConfig = 40;

// mt19937's sequence is fixed by the standard; its distributions are not.
class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  std::string Mutate(std::string text) {
    switch (random_() % 4) {
      case 0:
        text[Position(text)] = kCharacters[random_() % sizeof(kCharacters)];
        break;
      case 1:
        text.erase(Position(text), 1 + random_() % 8);
        break;
      case 2:
        text.insert(Position(text), 1,
                    kCharacters[random_() % sizeof(kCharacters)]);
        break;
      default:
        ReplaceNumber(text);
    }
    return text;
  }

 private:
  static constexpr char kCharacters[] = "0123456789-.e\"{}[],: tn\xff";

  size_t Position(const std::string& text) { return random_() % text.size(); }

  // The next number after some position becomes an extreme one.
  void ReplaceNumber(std::string& text) {
    static constexpr const char* kNumbers[] = {
        "0",        "1",        "-1",
        "16777216", "16777217", "4",
        "0.5",      "1048576",  "9223372036854775807",
        "1e308",    "[]",       "{}",
        "null",     "\"x\""};
    const size_t begin = text.find_first_of("0123456789", Position(text));
    if (begin == std::string::npos) return;
    size_t end = text.find_first_not_of("0123456789", begin);
    if (end == std::string::npos) end = text.size();
    text.replace(begin, end - begin, kNumbers[random_() % std::size(kNumbers)]);
  }

  std::mt19937 random_;
};

void UseEverything(const ModelSpec& spec) {
  for (const bool as_article : {false, true}) {
    const LayoutOptions options = {.as_article = as_article,
                                   .mtp_layers = true};
    const absl::StatusOr<CacheLayout> layout = BuildCacheLayout(spec, options);
    if (!layout.ok()) continue;
    const Tokens tokens(1'000'000'000);
    EXPECT_GE(layout->BytesAt(tokens), layout->BytesAt(Tokens(0)));
    EXPECT_GE(layout->FixedBytes(), Bytes(0));
    LayoutWarnings(spec, options, *layout, tokens);
  }
  EXPECT_GE(CountParameters(spec, true).total(), 0);
  EXPECT_GE(WeightBytes(spec, true), 0);
}

TEST(ConfigMutationsTest, NoDamageCrashesTheReader) {
  int read = 0;
  for (const CatalogueEntry& entry : Catalogue()) {
    const std::string config(entry.config);
    for (uint32_t seed = 0; seed < kMutationsPerConfig; ++seed) {
      SCOPED_TRACE(config.substr(0, 40) + "... seed " + std::to_string(seed));
      const absl::StatusOr<ModelSpec> spec =
          ReadModelConfig(Mutator(seed).Mutate(config), "mutated");
      if (!spec.ok()) {
        EXPECT_FALSE(spec.status().message().empty());
        continue;
      }
      ++read;
      UseEverything(*spec);
    }
  }
  EXPECT_GT(read, 100);  // some damage is harmless
}

}  // namespace
}  // namespace kvsim
