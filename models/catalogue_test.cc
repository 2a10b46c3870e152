#include "models/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/layout_builder.h"

namespace kvsim {
namespace {

TEST(CatalogueTest, HasTheModelsPeopleAskFor) {
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : Catalogue()) {
    names.emplace_back(entry.name);
  }
  EXPECT_THAT(names,
              ::testing::IsSupersetOf(
                  {"llama-2-7b", "mistral-7b", "llama-3.1-8b", "llama-3.1-70b",
                   "qwen3-8b", "gpt-oss-120b", "gemma-3-27b", "deepseek-v3",
                   "deepseek-v3.2", "glm-5.2", "kimi-linear-48b", "kimi-k3",
                   "qwen3-next-80b", "deepseek-v4-pro", "deepseek-v4-flash",
                   "kimi-k3.1-pro"}));
}

TEST(CatalogueTest, IsLarge) { EXPECT_GE(Catalogue().size(), 110u); }

TEST(CatalogueTest, EveryEntryReadsAndHasALayout) {
  for (const CatalogueEntry& entry : Catalogue()) {
    const absl::StatusOr<ModelSpec> spec = ReadCatalogueEntry(entry);
    ASSERT_TRUE(spec.ok()) << spec.status();
    EXPECT_EQ(spec->name, entry.name);
    EXPECT_FALSE(spec->source.empty()) << entry.name;
    for (const bool as_article : {false, true}) {
      const absl::StatusOr<CacheLayout> layout =
          BuildCacheLayout(*spec, {.as_article = as_article});
      ASSERT_TRUE(layout.ok()) << layout.status();
      EXPECT_GT(layout->BytesAt(Tokens(1)), Bytes(0)) << entry.name;
    }
  }
}

TEST(CatalogueTest, NamesAreUniqueAndCaseIsIgnored) {
  for (const CatalogueEntry& entry : Catalogue()) {
    EXPECT_EQ(FindCatalogueEntry(entry.name), &entry);
  }
  EXPECT_EQ(FindCatalogueEntry("Kimi-K3.1-Pro"),
            FindCatalogueEntry("kimi-k3.1-pro"));
  EXPECT_EQ(FindCatalogueEntry("kimi"), nullptr);
}

// Only the model without a public config carries assumptions.
TEST(CatalogueTest, AssumedFieldsAreMarked) {
  for (const CatalogueEntry& entry : Catalogue()) {
    EXPECT_EQ(entry.assumed_fields.empty(), entry.name != "kimi-k3.1-pro")
        << entry.name;
  }
}

}  // namespace
}  // namespace kvsim
