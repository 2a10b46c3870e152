#include "engines/llama_cpp/serve_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_split.h"
#include "engines/llama_cpp/serve_flag_table.h"

namespace kvsim::llama_cpp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<ServeArguments> Read(const std::vector<std::string>& words) {
  absl::StatusOr<ServeCommand> command =
      ReadServeCommand(LlamaServeGrammar(), words);
  if (!command.ok()) return command.status();
  return ReadServeArguments(*command);
}

TEST(LlamaServeArguments, NoSpellingBelongsToTwoFlags) {
  std::set<absl::string_view> seen;
  for (const ServeFlag& flag : LlamaServeGrammar().flags) {
    for (absl::string_view name : absl::StrSplit(flag.names, ' ')) {
      EXPECT_TRUE(seen.insert(name).second) << name;
    }
  }
}

TEST(LlamaServeArguments, ACommandBecomesSettings) {
  const auto read = Read({"/opt/llama-server",
                          "-m",
                          "m.gguf",
                          "-c",
                          "65536",
                          "-b",
                          "1024",
                          "-ub",
                          "256",
                          "-np",
                          "4",
                          "--kv-unified",
                          "-ctk",
                          "q8_0",
                          "-ctv",
                          "q4_0",
                          "-ngl",
                          "20",
                          "-fa",
                          "on",
                          "--swa-full",
                          "-md",
                          "d.gguf",
                          "--draft-max",
                          "6",
                          "-cd",
                          "4096",
                          "--port",
                          "8080",
                          "-t",
                          "8"});
  ASSERT_TRUE(read.ok()) << read.status();
  const Settings& settings = read->settings;
  EXPECT_EQ(read->model, "m.gguf");
  EXPECT_EQ(settings.ctx_size, 65536);
  EXPECT_EQ(settings.batch_size, 1024);
  EXPECT_EQ(settings.ubatch_size, 256);
  EXPECT_EQ(settings.parallel, 4);
  EXPECT_TRUE(settings.kv_unified);
  EXPECT_EQ(settings.cache_type_k, CacheType::kQ8_0);
  EXPECT_EQ(settings.cache_type_v, CacheType::kQ4_0);
  EXPECT_EQ(settings.gpu_layers, 20);
  EXPECT_EQ(settings.flash_attn, FlashAttention::kOn);
  EXPECT_TRUE(settings.swa_full);
  EXPECT_EQ(settings.draft_model, "d.gguf");
  EXPECT_EQ(settings.draft_max, 6);
  EXPECT_EQ(settings.draft_ctx_size, 4096);
}

// Older builds take -fa without a value.
TEST(LlamaServeArguments, ShortFormsAndNegations) {
  const auto read = Read({"-fa", "-nkvo", "-ngl", "all", "--no-kv-unified"});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->settings.flash_attn, FlashAttention::kAuto);
  EXPECT_FALSE(read->settings.kv_offload);
  EXPECT_FALSE(read->settings.gpu_layers.has_value());
}

TEST(LlamaServeArguments, AutomaticSequencesShareAStream) {
  const auto read = Read({"-np", "-1"});
  EXPECT_EQ(read->settings.parallel, 4);
  EXPECT_TRUE(read->settings.kv_unified);
}

TEST(LlamaServeArguments, UnmodelledFlagsAreNamed) {
  EXPECT_THAT(Read({"--fit", "on"})->warnings,
              ElementsAre(HasSubstr("--fit 'on'")));
}

TEST(LlamaServeArguments, ErrorsNamePlaceFlagAndValue) {
  EXPECT_EQ(Read({"-c", "many"}).status().message(),
            "llama-server, word 1: -c 'many': expected an integer");
  EXPECT_THAT(Read({"-ctk", "fp8"}).status().message(), HasSubstr("q8_0"));
  EXPECT_THAT(Read({"--ctx-sise", "1"}).status().message(),
              HasSubstr("--ctx-size"));
  EXPECT_THAT(Read({"-fa", "off", "-ctv", "q8_0"}).status().message(),
              HasSubstr("--flash-attn"));
}

}  // namespace
}  // namespace kvsim::llama_cpp
