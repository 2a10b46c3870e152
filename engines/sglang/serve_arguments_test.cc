#include "engines/sglang/serve_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_split.h"
#include "engines/sglang/serve_flag_table.h"

namespace kvsim::sglang {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<ServeArguments> Read(const std::vector<std::string>& words) {
  absl::StatusOr<ServeCommand> command =
      ReadServeCommand(SglangServeGrammar(), words);
  if (!command.ok()) return command.status();
  return ReadServeArguments(*command);
}

TEST(SglangServeArguments, NoSpellingBelongsToTwoFlags) {
  std::set<absl::string_view> seen;
  for (const ServeFlag& flag : SglangServeGrammar().flags) {
    for (absl::string_view name : absl::StrSplit(flag.names, ' ')) {
      EXPECT_TRUE(seen.insert(name).second) << name;
    }
  }
}

TEST(SglangServeArguments, ACommandBecomesSettings) {
  const auto read = Read({"python3",
                          "-m",
                          "sglang.launch_server",
                          "--model-path",
                          "org/m",
                          "--tp",
                          "8",
                          "--dp-size",
                          "8",
                          "--enable-dp-attention",
                          "--kv-cache-dtype",
                          "fp8_e4m3",
                          "--page-size",
                          "64",
                          "--context-length",
                          "131072",
                          "--mem-fraction-static",
                          "0.85",
                          "--max-running-requests",
                          "32",
                          "--disable-radix-cache",
                          "--mamba-ssm-dtype",
                          "bfloat16",
                          "--port",
                          "30000"});
  ASSERT_TRUE(read.ok()) << read.status();
  const Settings& settings = read->settings;
  EXPECT_EQ(read->model, "org/m");
  EXPECT_EQ(settings.AttentionRanks(), 1);
  EXPECT_EQ(settings.kv_cache_dtype, CacheType::kFp8);
  EXPECT_EQ(settings.page_size, 64);
  EXPECT_EQ(settings.context_length, 131072);
  EXPECT_EQ(settings.mem_fraction_static, 0.85);
  EXPECT_EQ(settings.max_running_requests, 32);
  EXPECT_TRUE(settings.disable_radix_cache);
  EXPECT_EQ(settings.mamba_ssm_dtype, DType::kBf16);
  EXPECT_TRUE(read->warnings.empty());
}

TEST(SglangServeArguments, AlgorithmsSayWhoDrafts) {
  EXPECT_TRUE(Read({"--speculative-algorithm", "EAGLE"})->settings.speculative);
  EXPECT_FALSE(
      Read({"--speculative-algorithm", "NGRAM"})->settings.speculative);
  const auto other = Read({"--model-path", "a", "--speculative-algorithm",
                           "EAGLE3", "--speculative-draft-model-path", "b"});
  EXPECT_EQ(other->settings.speculative_draft_model_path, "b");
}

TEST(SglangServeArguments, UnmodelledFlagsAreNamed) {
  EXPECT_THAT(Read({"--enable-hierarchical-cache"})->warnings,
              ElementsAre(HasSubstr("--enable-hierarchical-cache")));
}

TEST(SglangServeArguments, ErrorsNamePlaceFlagAndValue) {
  EXPECT_EQ(Read({"--tp-size", "eight"}).status().message(),
            "sglang.launch_server, word 1: --tp-size 'eight': expected an "
            "integer");
  EXPECT_THAT(Read({"--kv-cache-dtype", "q8_0"}).status().message(),
              HasSubstr("fp8_e4m3"));
  EXPECT_THAT(Read({"--page-sizes", "64"}).status().message(),
              HasSubstr("--page-size"));
  EXPECT_THAT(Read({"--page-size", "0"}).status().message(),
              HasSubstr("--page-size 0"));
}

}  // namespace
}  // namespace kvsim::sglang
