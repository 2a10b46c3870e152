#include "engines/tensorrt_llm/serve_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "absl/strings/str_split.h"
#include "engines/tensorrt_llm/serve_flag_table.h"

namespace kvsim::tensorrt_llm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<ServeArguments> Read(const std::vector<std::string>& words) {
  absl::StatusOr<ServeCommand> command =
      ReadServeCommand(TrtllmServeGrammar(), words);
  if (!command.ok()) return command.status();
  return ReadServeArguments(*command);
}

std::string WriteFile(const std::string& text) {
  const std::string path =
      std::string(std::getenv("TEST_TMPDIR")) + "/options.yaml";
  std::ofstream(path) << text;
  return path;
}

TEST(TrtllmServeArguments, NoSpellingBelongsToTwoFlags) {
  std::set<absl::string_view> seen;
  for (const ServeFlag& flag : TrtllmServeGrammar().flags) {
    for (absl::string_view name :
         absl::StrSplit(flag.names, ' ', absl::SkipEmpty())) {
      EXPECT_TRUE(seen.insert(name).second) << name;
    }
  }
}

TEST(TrtllmServeArguments, ACommandBecomesSettings) {
  const auto read =
      Read({"TRTLLM_WINDOW_SIZE_SHARES=0.4,0.6", "trtllm-serve", "org/m",
            "--tp_size", "8", "--max_seq_len", "131072",
            "--kv_cache_free_gpu_memory_fraction", "0.8", "--max_batch_size",
            "64", "--kv_cache_dtype", "fp8", "--max_attention_window",
            "4096,131072", "--port", "8000"});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->model, "org/m");
  EXPECT_EQ(read->settings.tp_size, 8);
  EXPECT_EQ(read->settings.max_seq_len, 131072);
  EXPECT_EQ(read->settings.free_gpu_memory_fraction, 0.8);
  EXPECT_EQ(read->settings.max_batch_size, 64);
  EXPECT_EQ(read->settings.kv_cache_dtype, CacheType::kFp8);
  EXPECT_THAT(read->settings.max_attention_window, ElementsAre(4096, 131072));
  EXPECT_THAT(read->settings.window_size_shares, ElementsAre(0.4, 0.6));
}

TEST(TrtllmServeArguments, TheFileGoesBeforeTheCommandLine) {
  const std::string path = WriteFile(
      "kv_cache_config:\n"
      "  free_gpu_memory_fraction: 0.7\n"
      "  tokens_per_block: 64\n"
      "  dtype: fp8\n"
      "  max_attention_window: [128, 32768]\n"
      "  pool_ratio: [0.5, 0.5]\n"
      "tensor_parallel_size: 4\n"
      "enable_attention_dp: true\n"
      "cuda_graph_config:\n"
      "  max_batch_size: 32\n");
  const auto read = Read({"m", "--tp_size", "2", "--kv_cache_dtype", "auto",
                          "--extra_llm_api_options", path});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->settings.tp_size, 4);
  EXPECT_EQ(read->settings.AttentionRanks(), 1);
  EXPECT_EQ(read->settings.free_gpu_memory_fraction, 0.7);
  EXPECT_EQ(read->settings.tokens_per_block, 64);
  EXPECT_EQ(read->settings.kv_cache_dtype, CacheType::kFp8);
  EXPECT_THAT(read->settings.max_attention_window, ElementsAre(128, 32768));
  EXPECT_THAT(read->warnings,
              ElementsAre(HasSubstr("kv_cache_config.pool_ratio")));
}

TEST(TrtllmServeArguments, OnlyMtpDraftsWithTheModelsLayers) {
  const auto with = [](const std::string& type) {
    return Read(
        {"m", "--config",
         WriteFile("speculative_config:\n  decoding_type: " + type + "\n")});
  };
  EXPECT_TRUE(with("MTP")->settings.speculative);
  EXPECT_FALSE(with("Eagle")->settings.speculative);
  EXPECT_THAT(with("Eagle")->warnings, ElementsAre(HasSubstr("'Eagle'")));
}

TEST(TrtllmServeArguments, ErrorsNamePlaceFlagAndValue) {
  EXPECT_EQ(Read({"--tp_size", "x"}).status().message(),
            "trtllm-serve, word 1: --tp_size 'x': expected an integer");
  EXPECT_THAT(Read({"--tokens_per_block", "48"}).status().message(),
              HasSubstr("power of two"));
  EXPECT_THAT(Read({"--config", WriteFile("kv_cache_config:\n  dtype: q8_0\n")})
                  .status()
                  .message(),
              HasSubstr("line 1: kv_cache_config.dtype 'q8_0'"));
}

}  // namespace
}  // namespace kvsim::tensorrt_llm
