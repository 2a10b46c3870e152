// Damaged flags and files given to `kvsim capacity`: it answers or refuses, and
// a refusal names the place. What nobody could read is never answered.
//
// A failure prints its seed. Mutations of configs alone, with layouts of what is
// still read, are models/config_mutations_test.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "models/catalogue.h"
#include "tools/command.h"
#include "tools/command_outcome.h"

namespace kvsim {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr uint32_t kSeeds = 150;

// mt19937's sequence is fixed by the standard; its distributions are not.
class Damage {
 public:
  explicit Damage(uint32_t seed) : random_(seed) {}

  size_t Below(size_t limit) { return random_() % limit; }

  // One to three small changes.
  std::string Mutate(std::string text) {
    for (size_t changes = 1 + Below(3); changes > 0; --changes) {
      MutateOnce(text);
    }
    return text;
  }

  // Bytes that begin no file of any kind.
  std::string Garbage() {
    std::string bytes = "\x01\x02\x03";
    for (size_t i = 0; i < 200; ++i) {
      bytes.push_back(static_cast<char>(random_() % 256));
    }
    return bytes;
  }

 private:
  void MutateOnce(std::string& text) {
    static constexpr absl::string_view kCharacters =
        "0123456789-.eE\"'{}[],:=# \t\nx\xff";
    static constexpr absl::string_view kValues[] = {
        "-1", "0", "1e308", "nan", "9223372036854775808", "null", "[]", "\xc3"};
    const size_t at = Below(text.size() + 1);
    switch (random_() % 4) {
      case 0:
        text.insert(at, 1, kCharacters[Below(kCharacters.size())]);
        break;
      case 1:
        text.erase(std::min(at, text.size()), 1 + Below(6));
        break;
      case 2:
        text.insert(at, std::string(kValues[Below(std::size(kValues))]));
        break;
      default:
        text = text.substr(0, at) + text.substr(Below(at + 1));
    }
  }

  std::mt19937 random_;
};

// Exit codes are the three known ones, and a refusal says something of the
// place.
void ExpectAnswerOrRefusal(const Outcome& outcome) {
  EXPECT_THAT(outcome.code, AnyOf(kExitOk, kExitBadInput, kExitWrongUsage));
  if (outcome.code == kExitOk) {
    EXPECT_FALSE(outcome.out.empty());
  } else {
    EXPECT_GT(outcome.err.size(), 20u) << outcome.err;
  }
}

void ExpectRefusalNaming(const Outcome& outcome, const std::string& place) {
  EXPECT_THAT(outcome.code, AnyOf(kExitBadInput, kExitWrongUsage));
  EXPECT_THAT(outcome.err, HasSubstr(place));
}

const Words kCommands[] = {
    {"--model", "llama-3.1-8b", "--gpu", "H100", "--tp", "2", "--context",
     "4096,128K", "--max-model-len", "131072"},
    {"--model", "qwen3.5-27b", "--kv-memory", "8.82GiB", "--kv-cache-dtype",
     "fp8", "--engine-version", "0.21.0", "--num-speculative-tokens", "1"},
    {"--kv-memory", "8GiB", "--", "vllm", "serve", "meta-llama/Llama-3.1-8B",
     "-tp", "2", "--max-model-len", "8K", "--speculative-config",
     R"({"method": "ngram", "num_speculative_tokens": 3})"},
    {"--kv-memory", "40GiB", "--engine", "sglang", "--", "python", "-m",
     "sglang.launch_server", "--model-path", "meta-llama/Llama-3.1-8B", "--tp",
     "2", "--mem-fraction-static", "0.8"},
    {"--kv-memory", "8GiB", "--engine", "llama.cpp", "--model", "gpt-oss-20b",
     "--", "llama-server", "-c", "8192", "-np", "2", "-ctk", "q8_0"},
};

TEST(CapacityDamage, DamagedWordsAreAnsweredOrRefused) {
  int refused = 0;
  for (const Words& command : kCommands) {
    for (uint32_t seed = 0; seed < kSeeds; ++seed) {
      Damage damage(seed);
      Words words = command;
      std::string& word = words[damage.Below(words.size())];
      word = damage.Mutate(word);
      SCOPED_TRACE(absl::StrCat("seed ", seed, ": kvsim capacity ",
                                absl::StrJoin(words, " ")));
      const Outcome outcome = Kvsim("capacity", words);
      ExpectAnswerOrRefusal(outcome);
      refused += outcome.code != kExitOk ? 1 : 0;
    }
  }
  EXPECT_GT(refused, 100);
}

// A number that cannot be one: the error names flag and value.
TEST(CapacityDamage, UnreadableValuesAreNamedWithTheirFlag) {
  for (const char* flag :
       {"--kv-memory", "--gpu-memory-utilization", "--max-model-len",
        "--tensor-parallel-size", "--context", "--num-gpu-blocks",
        "--max-num-seqs", "--engine-version", "--kv-cache-dtype", "--gpu"}) {
    for (const char* value : {"x1", "1..2", "12Q", "\xff\xfe", "{}"}) {
      SCOPED_TRACE(absl::StrCat(flag, " ", value));
      const Outcome outcome =
          Kvsim("capacity", {"--model", "llama-3.1-8b", flag, value});
      EXPECT_NE(outcome.code, kExitOk);
      EXPECT_THAT(outcome.err, HasSubstr(flag));
      EXPECT_THAT(outcome.err, HasSubstr(value));
    }
  }
}

// One kind of file: how it is given, and a good one.
struct FileKind {
  std::string name;  // of the file
  std::string good;
  Words (*command)(const std::string& path);
};

std::vector<FileKind> FileKinds() {
  return {
      {"config.json", std::string(FindCatalogueEntry("kimi-k3")->config),
       [](const std::string& path) {
         return Words{"--model", path, "--kv-memory", "40GiB", "--tp", "8"};
       }},
      {"draft.json", std::string(FindCatalogueEntry("qwen3-0.6b")->config),
       [](const std::string& path) {
         return Words{"--draft-model",
                      path,
                      "--kv-memory",
                      "8GiB",
                      "--",
                      "vllm",
                      "serve",
                      "Qwen/Qwen3-8B",
                      "--speculative-config",
                      R"({"method": "draft_model", "model": "org/d",
                          "num_speculative_tokens": 3})"};
       }},
      {"serve.yaml",
       "model: llama-3.1-8b\ntensor-parallel-size: 2\nmax-model-len: 8192\n"
       "kv-cache-dtype: fp8\nenable-prefix-caching: true\n",
       [](const std::string& path) {
         return Words{"--kv-memory", "8GiB",     "--", "vllm",
                      "serve",       "--config", path};
       }},
      {"startup.log",
       "INFO [core.py:1] Initializing a V1 LLM engine (v0.19.0) with config: "
       "model='meta-llama/Llama-3.1-8B', dtype=torch.bfloat16, "
       "max_seq_len=4096, tensor_parallel_size=1\n"
       "INFO Available KV cache memory: 8.00 GiB\n"
       "INFO GPU KV cache size: 65,536 tokens\n"
       "INFO Maximum concurrency for 4,096 tokens per request: 16.00x\n",
       [](const std::string& path) {
         return Words{"--from-log", path};
       }},
  };
}

TEST(CapacityDamage, DamagedFilesAreAnsweredOrRefused) {
  for (const FileKind& kind : FileKinds()) {
    for (uint32_t seed = 0; seed < kSeeds; ++seed) {
      const std::string text = Damage(seed).Mutate(kind.good);
      SCOPED_TRACE(absl::StrCat(kind.name, ", seed ", seed, ":\n", text));
      const std::string path = WriteTestFile(kind.name, text);
      ExpectAnswerOrRefusal(Kvsim("capacity", kind.command(path)));
    }
  }
}

TEST(CapacityDamage, UndamagedFilesAreAnswered) {
  for (const FileKind& kind : FileKinds()) {
    const Outcome outcome =
        Kvsim("capacity", kind.command(WriteTestFile(kind.name, kind.good)));
    EXPECT_EQ(outcome.code, kExitOk) << kind.name << ": " << outcome.err;
  }
}

TEST(CapacityDamage, GarbageIsRefusedAndTheFileNamed) {
  for (const FileKind& kind : FileKinds()) {
    for (uint32_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(absl::StrCat(kind.name, ", seed ", seed));
      const std::string path = WriteTestFile(kind.name, Damage(seed).Garbage());
      ExpectRefusalNaming(Kvsim("capacity", kind.command(path)), kind.name);
    }
    SCOPED_TRACE(kind.name);
    ExpectRefusalNaming(Kvsim("capacity", kind.command(testing::TempDir() +
                                                       "/none/" + kind.name)),
                        kind.name);
  }
}

// A JSON object cut anywhere is none.
TEST(CapacityDamage, CutConfigsAreRefusedAndTheFileNamed) {
  for (const FileKind& kind : FileKinds()) {
    if (kind.name.find(".json") == std::string::npos) continue;
    for (uint32_t seed = 0; seed < 30; ++seed) {
      const size_t end = Damage(seed).Below(kind.good.rfind('}'));
      SCOPED_TRACE(absl::StrCat(kind.name, " cut at ", end));
      const std::string path =
          WriteTestFile(kind.name, kind.good.substr(0, end));
      ExpectRefusalNaming(Kvsim("capacity", kind.command(path)), kind.name);
    }
  }
}

}  // namespace
}  // namespace kvsim
