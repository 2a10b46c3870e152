// Load sizes of one rank, as engines printed them, within 2 %.
#include "engines/vllm/rank_weights.h"

#include <gtest/gtest.h>

#include <string>

#include "models/model_loader.h"

namespace kvsim::vllm {
namespace {

double RankGib(const std::string& name, int64_t tensor,
               const std::string& overrides = "") {
  const ModelSpec model = *LoadModel(name, overrides);
  ParallelPlan parallel;
  parallel.tensor = tensor;
  const std::vector<Bytes> weights =
      RankWeights(model, parallel, {static_cast<int64_t>(model.layers.size())},
                  std::nullopt, false);
  return static_cast<double>(weights[0].value()) / 0x1p30;
}

TEST(RankWeights, RanksDivideWhatIsNotCopied) {
  EXPECT_NEAR(RankGib("llama-3.1-8b", 1), 14.99, 0.05);
  EXPECT_NEAR(RankGib("llama-3.1-8b", 4), 3.77, 0.05);
  EXPECT_NEAR(RankGib("qwen2.5-72b", 2), 67.80, 0.12);
}

// Each rank keeps the down-projections of latents: 78.33 GiB without them.
TEST(RankWeights, LatentsAreProjectedDownOnEveryRank) {
  EXPECT_NEAR(RankGib("deepseek-v3", 8), 79.74, 0.8);
  EXPECT_GT(RankGib("deepseek-v3", 8), 78.9);
}

// 4 KV heads on 8 ranks: two copies of each. 94 layers x 4,096 x 4 heads x 2 x
// 128 B of fp8, over 8 ranks.
TEST(RankWeights, FewerHeadsThanRanksAreCopied) {
  const std::string fp8 = R"({"quantization_config": {"quant_method": "fp8"}})";
  const double copies = 94.0 * 4096 * 4 * 2 * 128 / 8 / 0x1p30;
  const double whole = RankGib("qwen3-235b-a22b", 1, fp8) / 8;
  EXPECT_GT(RankGib("qwen3-235b-a22b", 8, fp8), whole + copies);
  EXPECT_LT(RankGib("qwen3-235b-a22b", 8, fp8), whole + copies + 0.2);
}

// 2,880 rows become 3,072: v0.11 printed 13.47 and 64.38.
TEST(RankWeights, ExpertsOfFourBitsArePadded) {
  EXPECT_NEAR(RankGib("gpt-oss-20b", 1), 13.47, 0.1);
  EXPECT_NEAR(RankGib("gpt-oss-120b", 1), 64.38, 0.2);
}

// Gemma-3-4B printed 8.58, of which its tower of 27 layers is 0.77.
TEST(RankWeights, ATowerIsOnTheFirstStage) {
  ModelSpec model = *LoadModel("llama-3.1-8b");
  const std::vector<int64_t> stages = {16, 16};
  ParallelPlan parallel;
  parallel.pipeline = 2;
  const auto weights = [&] {
    return RankWeights(model, parallel, stages, std::nullopt, false);
  };
  const std::vector<Bytes> without = weights();
  model.tower_weights = 411'000'000;
  EXPECT_EQ(weights()[0] - without[0], Bytes(822'000'000));
  EXPECT_EQ(weights()[1], without[1]);
}

// What a person gives is divided as it is.
TEST(RankWeights, GivenBytesHaveNoCopies) {
  const ModelSpec model = *LoadModel("deepseek-v3");
  ParallelPlan parallel;
  parallel.tensor = 8;
  const Bytes given(640'000'000'000);
  const std::vector<Bytes> weights =
      RankWeights(model, parallel, {61}, given, false);
  EXPECT_NEAR(static_cast<double>(weights[0].value()), 80e9, 2.0);
}

}  // namespace
}  // namespace kvsim::vllm
