// Counted weights against published totals. Published figures are the model
// cards'; "48B" and the like are rounded names.

#include "models/parameter_count.h"

#include <gtest/gtest.h>

#include <string>

#include "models/model_loader.h"
#include "models/printed_figure.h"

namespace kvsim {
namespace {

double CountedBillions(const std::string& model) {
  return static_cast<double>(CountParameters(*LoadModel(model)).total()) / 1e9;
}

double WeightGiB(const std::string& model, bool mtp) {
  return static_cast<double>(WeightBytes(*LoadModel(model), mtp)) /
         (1024.0 * 1024 * 1024);
}

TEST(ParameterCountTest, ReproducesPublishedTotalsToTheDigit) {
  EXPECT_TRUE(PrintsAs(CountedBillions("llama-2-7b"), "6.738"));
  EXPECT_TRUE(PrintsAs(CountedBillions("llama-3.1-8b"), "8.030"));
  EXPECT_TRUE(PrintsAs(CountedBillions("llama-3.1-70b"), "70.554"));
  EXPECT_TRUE(PrintsAs(CountedBillions("qwen3-8b"), "8.191"));
  EXPECT_TRUE(PrintsAs(CountedBillions("gpt-oss-120b"), "116.829"));
  EXPECT_TRUE(PrintsAs(CountedBillions("gemma-3-27b"), "27.01"));
  EXPECT_TRUE(PrintsAs(CountedBillions("deepseek-v3"), "671.03"));
  EXPECT_TRUE(PrintsAs(CountedBillions("deepseek-v3.2"), "671.88"));
  EXPECT_TRUE(PrintsAs(CountedBillions("kimi-linear-48b"), "49.12"));
  EXPECT_TRUE(PrintsAs(CountedBillions("kimi-k3"), "2779.5"));
  EXPECT_TRUE(PrintsAs(CountedBillions("qwen3-next-80b"), "79.67"));
}

TEST(ParameterCountTest, IsWithinTwoPercentOfRoundedNames) {
  struct Row {
    const char* model;
    double published;
  };
  for (const Row& row :
       {Row{"mistral-7b", 7.25}, Row{"deepseek-v3", 671}, Row{"glm-5.2", 744},
        Row{"kimi-k3", 2800}, Row{"qwen3-next-80b", 80},
        Row{"gemma-3-27b", 27.4}, Row{"deepseek-v4-pro", 1600},
        Row{"deepseek-v4-flash", 284}}) {
    EXPECT_NEAR(CountedBillions(row.model), row.published, 0.02 * row.published)
        << row.model;
  }
}

TEST(ParameterCountTest, PartsAddUpForLlama) {
  // Llama-2-7B by hand: 4 x 4096^2 and 3 x 4096 x 11008 per layer, two
  // embeddings of 32000 x 4096, 2 norms per layer and a last one.
  const ParameterCount count = CountParameters(*LoadModel("llama-2-7b"));
  EXPECT_EQ(count.attention, 32LL * 4 * 4096 * 4096);
  EXPECT_EQ(count.dense_ffn, 32LL * 3 * 4096 * 11008);
  EXPECT_EQ(count.routed_experts, 0);
  EXPECT_EQ(count.embedding, 32000 * 4096);
  EXPECT_EQ(count.head, 32000 * 4096);
  EXPECT_EQ(count.norms_and_routers, 65 * 4096);
}

TEST(ParameterCountTest, TiedHeadIsCountedOnce) {
  EXPECT_EQ(CountParameters(*LoadModel("gemma-3-27b")).head, 0);
}

TEST(ParameterCountTest, WeightBytesFollowTheQuantizationRecord) {
  // Checkpoint sizes: bf16 and mxfp4 exactly, fp8 within 1 % (block scales).
  EXPECT_TRUE(PrintsAs(WeightGiB("llama-3.1-8b", false), "14.96"));
  EXPECT_TRUE(PrintsAs(WeightGiB("llama-3.1-70b", false), "131.42"));
  EXPECT_TRUE(PrintsAs(WeightGiB("gpt-oss-120b", false), "60.7"));
  EXPECT_NEAR(WeightGiB("deepseek-v3", true), 641.30, 0.01 * 641.30);
  EXPECT_NEAR(WeightGiB("deepseek-v3.2", true), 642.14, 0.01 * 642.14);
  // fp4 experts and fp8 elsewhere.
  EXPECT_NEAR(WeightGiB("deepseek-v4-pro", true), 805.34, 0.01 * 805.34);
  EXPECT_NEAR(WeightGiB("deepseek-v4-flash", true), 155.43, 0.05 * 155.43);
}

}  // namespace
}  // namespace kvsim
