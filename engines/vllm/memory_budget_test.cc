// Recorded start-ups of vLLM v0.19 on an H100 of 79.19 GiB, utilization 0.95,
// 8,192 tokens a batch and 1,024 sequences: printed weights in, printed cache
// memory out.
#include "engines/vllm/memory_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "models/model_loader.h"

namespace kvsim::vllm {
namespace {

using ::testing::HasSubstr;

constexpr double kGiB = 1073741824.0;

double InGib(Bytes bytes) { return static_cast<double>(bytes.value()) / kGiB; }

Bytes FromGib(double gib) { return Bytes(static_cast<int64_t>(gib * kGiB)); }

BudgetInput RecordedInput(int64_t tensor, double weights_gib_per_rank) {
  BudgetInput input;
  input.gpu_total = FromGib(79.19);
  input.sm = 90;
  input.utilization = 0.95;
  input.parallel.tensor = tensor;
  input.weight_bytes =
      FromGib(weights_gib_per_rank * static_cast<double>(tensor));
  input.switches = SwitchesFor("0.19.0")->switches;
  return input;
}

struct Recorded {
  const char* model;
  int64_t tensor;
  double weights;
  double activations;
  double kv;
};

TEST(BudgetStages, RecordedCacheMemoryLiesInTheBand) {
  const Recorded kRuns[] = {
      {"llama-3.1-8b", 1, 14.99, 1.89, 58.11},
      {"llama-3.1-8b", 2, 7.51, 1.89, 63.76},
      {"llama-3.1-8b", 4, 3.77, 1.89, 67.44},
      {"llama-3.1-70b", 2, 33.88, 1.96, 37.28},
      {"llama-3.1-70b", 4, 16.96, 1.97, 54.09},
      {"qwen3-8b", 1, 15.27, 2.21, 57.50},
  };
  for (const Recorded& run : kRuns) {
    const ModelSpec model = *LoadModel(run.model);
    const MemoryBudget budget =
        BudgetStages(model, RecordedInput(run.tensor, run.weights))->at(0);
    EXPECT_NEAR(InGib(budget.activations), run.activations, 0.02) << run.model;
    EXPECT_NEAR(InGib(budget.kv), run.kv, InGib(budget.band))
        << run.model << " TP" << run.tensor;
    EXPECT_NEAR(InGib(budget.band), 0.15, 0.001);
  }
}

// From v0.21 on the estimate of the graphs is subtracted: 0.0125 GiB for each of
// 32 layers; of 1,024 sequences or 256 all sizes are captured, of 8 few.
TEST(BudgetStages, NewerVersionsSubtractTheCudaGraphs) {
  BudgetInput input = RecordedInput(1, 14.99);
  input.switches = SwitchesFor("0.21.0")->switches;
  const ModelSpec model = *LoadModel("llama-3.1-8b");
  const MemoryBudget budget = BudgetStages(model, input)->at(0);
  EXPECT_NEAR(InGib(budget.cuda_graphs), 0.40, 0.001);
  EXPECT_NEAR(InGib(budget.band), 2.2, 0.001);
  input.max_num_seqs = 256;
  EXPECT_EQ(BudgetStages(model, input)->at(0).cuda_graphs, budget.cuda_graphs);
  input.max_num_seqs = 8;  // 5 of 51 sizes
  EXPECT_NEAR(InGib(BudgetStages(model, input)->at(0).cuda_graphs),
              0.40 * 5 / 51, 0.001);
}

// v0.16 profiled the sampler with 9.65 instead of 3.70 bytes: a Qwen3-8B row
// costs 9.65 x 1,024 x 151,936 x 4 B = 5.59 GiB.
TEST(BudgetStages, OlderSamplersTakeMore) {
  BudgetInput input = RecordedInput(1, 15.27);
  input.switches = SwitchesFor("0.16.0")->switches;
  const ModelSpec model = *LoadModel("qwen3-8b");
  EXPECT_NEAR(InGib(BudgetStages(model, input)->at(0).activations), 5.65, 0.03);
}

// Counted weights of Llama-3.1-8B: 14.96 GiB of bf16, 14.99 printed.
TEST(BudgetStages, CountsTheWeights) {
  BudgetInput input = RecordedInput(1, 0);
  input.weight_bytes.reset();
  const ModelSpec model = *LoadModel("llama-3.1-8b");
  EXPECT_NEAR(InGib(BudgetStages(model, input)->at(0).weights), 14.96, 0.02);
}

// 32 layers over 2 stages; the printed weights were 7.51 GiB on each.
TEST(BudgetStages, StagesShareLayersEmbeddingAndHead) {
  BudgetInput input = RecordedInput(1, 0);
  input.weight_bytes.reset();
  input.parallel.pipeline = 2;
  const ModelSpec model = *LoadModel("llama-3.1-8b");
  const auto budgets = *BudgetStages(model, input);
  ASSERT_EQ(budgets.size(), 2u);
  EXPECT_NEAR(InGib(budgets[0].weights), 7.51, 0.05);
  EXPECT_NEAR(InGib(budgets[1].weights), 7.51, 0.05);
  // Only the last stage samples.
  EXPECT_LT(budgets[0].activations, budgets[1].activations);
}

TEST(BudgetStages, PartsAddUpToWhatIsRequested) {
  const ModelSpec model = *LoadModel("llama-3.1-8b");
  const MemoryBudget budget =
      BudgetStages(model, RecordedInput(2, 7.51))->at(0);
  EXPECT_EQ(budget.weights + budget.NonKv() + budget.kv, budget.requested);
}

TEST(BudgetStages, GivenPartsLeaveNoBand) {
  BudgetInput input = RecordedInput(1, 14.99);
  input.non_kv_memory = Bytes(0);
  const ModelSpec model = *LoadModel("llama-3.1-8b");
  const MemoryBudget budget = BudgetStages(model, input)->at(0);
  EXPECT_EQ(budget.band, Bytes(0));
  EXPECT_EQ(budget.NonKv(), Bytes(0));
}

TEST(BudgetStages, WeightsBeyondTheMemoryLeaveANegativeCache) {
  const ModelSpec model = *LoadModel("llama-3.1-70b");
  EXPECT_LT(BudgetStages(model, RecordedInput(1, 131.4))->at(0).kv, Bytes(0));
}

TEST(BudgetStages, RefusesBadNumbersWithFlagAndValue) {
  const ModelSpec model = *LoadModel("llama-3.1-8b");
  const auto message = [&](const BudgetInput& input) {
    return std::string(BudgetStages(model, input).status().message());
  };
  for (double utilization : {0.0, -0.5, 1.01, std::nan("")}) {
    BudgetInput input = RecordedInput(1, 15);
    input.utilization = utilization;
    EXPECT_THAT(message(input), HasSubstr("--gpu-memory-utilization"));
  }
  BudgetInput negative = RecordedInput(1, 15);
  negative.gpu_total = Bytes(-5);
  EXPECT_THAT(message(negative), HasSubstr("--gpu-memory -5 bytes"));
  BudgetInput weights = RecordedInput(1, 15);
  weights.weight_bytes = Bytes(-1);
  EXPECT_THAT(message(weights), HasSubstr("--weight-bytes -1"));
}

TEST(DefaultBatch, FollowsTheCard) {
  EXPECT_EQ(DefaultBatch(FromGib(79.19), 90).max_num_batched_tokens, 8192);
  EXPECT_EQ(DefaultBatch(FromGib(178.35), 100).max_num_batched_tokens, 16384);
  // The A100 is treated as a small card.
  EXPECT_EQ(DefaultBatch(FromGib(79.25), 80).max_num_batched_tokens, 2048);
  EXPECT_EQ(DefaultBatch(FromGib(23.5), 89).max_num_seqs, 256);
}

// 20,000 tokens in one go, 35,000 in chunks of 2,048; 256 sequences.
TEST(DefaultBatch, V0TakesAWholePromptUntilChunksBegin) {
  EXPECT_EQ(PreviousDefaultBatch(20000).max_num_batched_tokens, 20000);
  EXPECT_EQ(PreviousDefaultBatch(35000).max_num_batched_tokens, 2048);
  EXPECT_EQ(PreviousDefaultBatch(1024).max_num_batched_tokens, 2048);
  EXPECT_EQ(PreviousDefaultBatch(20000).max_num_seqs, 256);
}

// Printed on cards with NVLink: 2.07 GiB on two ranks; on two 3090 0.74, on
// four RTX PRO 6000 1.70.
TEST(BudgetStages, CommunicationTakesLessOverPcie) {
  const ModelSpec model = *LoadModel("llama-3.1-8b");
  const auto non_torch = [&](int64_t tensor, bool fast_link) {
    BudgetInput input = RecordedInput(tensor, 7.51);
    input.fast_link = fast_link;
    return InGib(BudgetStages(model, input)->at(0).non_torch);
  };
  EXPECT_NEAR(non_torch(2, true), 2.07, 0.001);
  EXPECT_NEAR(non_torch(2, false), 0.74, 0.001);
  EXPECT_NEAR(non_torch(4, false), 1.70, 0.001);
  EXPECT_TRUE(HasFastLink(*FindGpu("H100")));
  EXPECT_FALSE(HasFastLink(*FindGpu("L40S")));
}

}  // namespace
}  // namespace kvsim::vllm
