#include "engines/vllm/serve_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "engines/vllm/serve_flag_table.h"

namespace kvsim::vllm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Applied {
  CapacityQuestion question;
  ServedModel served;
  std::string error;
};

Applied Apply(const std::vector<std::string>& words) {
  Applied applied;
  const auto command = ReadServeCommand(VllmServeGrammar(), words);
  if (!command.ok()) {
    applied.error = std::string(command.status().message());
    return applied;
  }
  auto served = ApplyServeCommand(*command, &applied.question);
  if (served.ok()) {
    applied.served = *std::move(served);
  } else {
    applied.error = std::string(served.status().message());
  }
  return applied;
}

TEST(ServeArguments, FlagsBecomeFieldsOfTheQuestion) {
  const Applied applied = Apply({"vllm",
                                 "serve",
                                 "org/m",
                                 "-tp",
                                 "8",
                                 "-pp",
                                 "2",
                                 "-dcp",
                                 "4",
                                 "--max-model-len",
                                 "128K",
                                 "--block-size",
                                 "64",
                                 "--kv-cache-dtype",
                                 "fp8_e4m3",
                                 "--max-num-seqs",
                                 "16",
                                 "--max-num-batched-tokens",
                                 "8k",
                                 "--no-enable-prefix-caching",
                                 "--mamba-ssm-cache-dtype",
                                 "float32",
                                 "--mamba-cache-dtype",
                                 "auto",
                                 "--mamba-cache-mode",
                                 "all",
                                 "--no-async-scheduling",
                                 "--disable-hybrid-kv-cache-manager",
                                 "--attention-backend",
                                 "FLASHMLA",
                                 "--dtype",
                                 "half"});
  ASSERT_EQ(applied.error, "");
  const CapacityQuestion& question = applied.question;
  EXPECT_EQ(applied.served.model, "org/m");
  EXPECT_EQ(question.tensor, 8);
  EXPECT_EQ(question.pipeline, 2);
  EXPECT_EQ(question.decode_context, 4);
  EXPECT_EQ(question.max_model_len, Tokens(131072));
  EXPECT_EQ(question.block_size, Tokens(64));
  EXPECT_EQ(question.kv_cache_dtype, KvCacheDtype::kFp8);
  EXPECT_EQ(question.max_num_seqs, 16);
  EXPECT_EQ(question.max_num_batched_tokens, 8000);
  EXPECT_EQ(question.prefix_caching, false);
  EXPECT_EQ(question.state_dtype, DType::kFp32);
  EXPECT_EQ(question.conv_state_dtype, std::nullopt);
  EXPECT_EQ(question.state_mode, StateMode::kAll);
  EXPECT_FALSE(question.async_scheduling);
  EXPECT_EQ(question.hybrid_manager, false);
  EXPECT_EQ(question.attention_backend, "FLASHMLA");
  EXPECT_EQ(question.dtype, DType::kFp16);
  EXPECT_THAT(applied.served.warnings, IsEmpty());
}

TEST(ServeArguments, WhatIsNotGivenIsLeftToTheEngine) {
  const Applied applied = Apply({"vllm", "serve", "m"});
  ASSERT_EQ(applied.error, "");
  EXPECT_EQ(applied.question.tensor, 1);  // vLLM's default, whatever the GPUs
  EXPECT_EQ(applied.question.max_model_len, std::nullopt);
  EXPECT_EQ(applied.question.prefix_caching, std::nullopt);
  EXPECT_EQ(applied.question.speculative_tokens, 0);
}

TEST(ServeArguments, DataParallelEnginesAreReplicas) {
  const Applied applied = Apply({"m", "-tp", "4", "-dp", "2"});
  ASSERT_EQ(applied.error, "");
  EXPECT_EQ(applied.question.num_gpus, 8);
}

TEST(ServeArguments, CountsMayHaveSuffixes) {
  EXPECT_EQ(*ParseHumanCount("8192"), 8192);
  EXPECT_EQ(*ParseHumanCount("32k"), 32000);
  EXPECT_EQ(*ParseHumanCount("32K"), 32768);
  EXPECT_EQ(*ParseHumanCount("25.6k"), 25600);
  EXPECT_EQ(*ParseHumanCount("1m"), 1000000);
  EXPECT_EQ(*ParseHumanCount("6G"), int64_t{6} << 30);
  EXPECT_FALSE(ParseHumanCount("25.6K").ok());  // no whole number of 1,024
  EXPECT_FALSE(ParseHumanCount("8192 tokens").ok());
  EXPECT_FALSE(ParseHumanCount("").ok());
}

TEST(ServeArguments, TheLengthMayBeFitted) {
  EXPECT_TRUE(
      Apply({"m", "--max-model-len", "auto"}).question.fit_max_model_len);
  EXPECT_TRUE(Apply({"m", "--max-model-len", "-1"}).question.fit_max_model_len);
}

TEST(ServeArguments, SpeculationNamesMethodTokensAndDrafter) {
  const Applied mtp =
      Apply({"m", "--speculative-config",
             R"({"method":"deepseek_mtp","num_speculative_tokens":3})"});
  EXPECT_EQ(mtp.question.speculative_method, SpeculativeMethod::kMtp);
  EXPECT_EQ(mtp.question.speculative_tokens, 3);
  EXPECT_EQ(mtp.served.draft_model, "");
  const Applied eagle =
      Apply({"m", "--speculative-config.method", "eagle3",
             "--speculative-config.model", "org/draft",
             "--speculative-config.num_speculative_tokens", "2",
             "--speculative-config.draft_tensor_parallel_size", "1"});
  EXPECT_EQ(eagle.error, "");
  EXPECT_EQ(eagle.question.speculative_method, SpeculativeMethod::kDraftModel);
  EXPECT_EQ(eagle.question.speculative_tokens, 2);
  EXPECT_EQ(eagle.question.draft_tensor, 1);
  EXPECT_EQ(eagle.served.draft_model, "org/draft");
  const Applied ngram =
      Apply({"m", "--speculative-config",
             R"({"method":"ngram","num_speculative_tokens":4})"});
  EXPECT_EQ(ngram.question.speculative_method, SpeculativeMethod::kNoCache);
}

TEST(ServeArguments, VariablesBeforeTheCommandCount) {
  const Applied applied = Apply({"VLLM_ATTENTION_BACKEND=FLASHMLA",
                                 "VLLM_USE_V1=0", "vllm", "serve", "m"});
  EXPECT_EQ(applied.question.attention_backend, "FLASHMLA");
  EXPECT_EQ(applied.question.previous_engine, true);
}

TEST(ServeArguments, WhatIsNotModelledIsNamed) {
  EXPECT_THAT(Apply({"VLLM_KV_CACHE_LAYOUT=HND", "vllm", "serve", "m",
                     "--kv-offloading-size", "20", "--enforce-eager",
                     "--kv-cache-memory-bytes", "6G"})
                  .served.warnings,
              ElementsAre("not modelled, and could change the cache: "
                          "--kv-offloading-size '20', VLLM_KV_CACHE_LAYOUT"));
  // Without the cache's memory, what it leaves matters too.
  EXPECT_THAT(Apply({"m", "--enforce-eager"}).served.warnings,
              ElementsAre("not modelled, and change the memory left for the "
                          "cache: --enforce-eager"));
}

TEST(ServeArguments, ErrorsNameFlagValueAndWhatIsAccepted) {
  EXPECT_EQ(Apply({"m", "--mamba-cache-mode", "some"}).error,
            "vllm serve, word 2: --mamba-cache-mode 'some': accepted: none, "
            "align, all");
  EXPECT_THAT(Apply({"m", "-tp", "0"}).error, HasSubstr("must be positive"));
  EXPECT_THAT(Apply({"m", "--block-size", "16k"}).error,
              HasSubstr("'16k': expected an integer"));
  EXPECT_THAT(Apply({"m", "--hf-overrides", "[1]"}).error,
              HasSubstr("expected a JSON object"));
  EXPECT_THAT(
      Apply({"m", "--speculative-config", R"({"method":"psychic"})"}).error,
      HasSubstr("method 'psychic' is unknown; accepted: mtp"));
  EXPECT_THAT(Apply({"m", "--speculative-config", R"({"method":5})"}).error,
              HasSubstr("method"));
}

}  // namespace
}  // namespace kvsim::vllm
