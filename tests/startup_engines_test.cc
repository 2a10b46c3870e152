// Predictors of SGLang, llama.cpp and TensorRT-LLM on made-up starts whose
// figures are derived by hand.
#include <gtest/gtest.h>

#include <string>

#include "tests/startup_agreement.h"
#include "tests/startup_case.h"
#include "tests/startup_predictor.h"

namespace kvsim {
namespace {

StartupResult Compare(const std::string& json) {
  const absl::StatusOr<StartupCase> startup = ParseStartupCase(json);
  EXPECT_TRUE(startup.ok()) << startup.status();
  return CompareStartup(*startup, FindStartupPredict(startup->engine));
}

// 2 layers of 2 KV heads of 64: 512 B of K a token, of V as many.
constexpr char kModel[] =
    R"("config": {"model_type": "llama", "hidden_size": 256,
        "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 64,
        "max_position_embeddings": 4096})";

std::string Case(const std::string& rest) {
  return std::string("{") + kModel + ", " + rest + "}";
}

// 2,097,151 tokens and the padding's page: 2^21 x 512 B = 1 GiB of K.
TEST(StartupEnginesTest, SglangsTokensAreGiven) {
  const std::string start =
      R"("engine": "sglang", "args": [], "given": {"max_total_tokens": 2097151},
         "expect": {"k_size_gb": )";
  EXPECT_EQ(Compare(Case(start + "1.00}")).agreement, Agreement::kAgrees);
  EXPECT_EQ(Compare(Case(start + "1.01}")).agreement, Agreement::kDiffers);
}

// 4,096 cells x 512 B = 2 MiB of K.
TEST(StartupEnginesTest, LlamaCppFollowsFromItsFlags) {
  const std::string start =
      R"("engine": "llama.cpp", "args": ["-c", "4000", "-fa", "on"],
         "expect": {"cells": 4096, "k_mib": )";
  EXPECT_EQ(Compare(Case(start + "2.00}")).agreement, Agreement::kAgrees);
  EXPECT_EQ(Compare(Case(start + "1.95}")).agreement, Agreement::kDiffers);
}

// 1,024 blocks x 32 tokens x 1,024 B = 0.03 GiB.
TEST(StartupEnginesTest, TensorrtLlmsBlocksAreGiven) {
  const std::string start =
      R"("engine": "tensorrt-llm", "args": ["--tokens_per_block", "32"],
         "given": {"num_blocks": 1024},
         "expect": {"max_tokens": 32768, "alloc_gib": )";
  EXPECT_EQ(Compare(Case(start + "0.03}")).agreement, Agreement::kAgrees);
  EXPECT_EQ(Compare(Case(start + "0.04}")).agreement, Agreement::kDiffers);
}

// A flag that no table knows is a difference, not a crash.
TEST(StartupEnginesTest, UnknownFlagsDiffer) {
  for (const char* engine : {"sglang", "llama.cpp", "tensorrt-llm"}) {
    const StartupResult result =
        Compare(Case(std::string(R"("engine": ")") + engine +
                     R"(", "args": ["--no-such-flag"], "expect": {})"));
    EXPECT_EQ(result.agreement, Agreement::kDiffers) << engine;
  }
}

}  // namespace
}  // namespace kvsim
