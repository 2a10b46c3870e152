#include "sim/roofline_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/fake_batches.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;

// Llama-3.1-70B in FP8 with a BF16 cache: 69.503 G weights beside the embedding
// table (70.554 G - 128,256 · 8,192), 80 layers · 8 heads · 128 · 2 · 2 B.
RooflineModel Llama70b(int64_t tp) {
  RooflineModel model;
  model.other_weight_bytes = 70.553706496e9 - 128256.0 * 8192.0;
  model.active_parameters = model.other_weight_bytes;
  model.num_layers = 80;
  model.hidden_size = 8192;
  model.kv_bytes_per_token_per_rank = 327680.0 / static_cast<double>(tp);
  model.tensor_parallel = tp;
  return model;
}

constexpr RooflineGpu kH100 = {3.35e12, 1979e12, 450e9};
constexpr RooflineGpu kH200 = {4.8e12, 1979e12, 450e9};

// Mean decode step of `batch` clients: each step also prefills its share.
double TpotMs(const RooflineModel& model, const RooflineGpu& gpu, int64_t batch,
              double in, double out) {
  const auto b = static_cast<double>(batch);
  return 1e3 * RooflineCost(model, gpu)
                   .Seconds({.decode_tokens = b,
                             .decode_context = b * (in + out / 2),
                             .prefill_tokens = b * in / out,
                             .routed_tokens = batch});
}

// The figures that the published fit prints for these cells, to its last digit.
TEST(RooflineCostTest, EqualsThePublishedFit) {
  EXPECT_NEAR(TpotMs(Llama70b(2), kH100, 4, 1024, 1024), 20.0, 0.1);
  EXPECT_NEAR(TpotMs(Llama70b(2), kH100, 64, 1024, 1024), 30.3, 0.1);
  EXPECT_NEAR(TpotMs(Llama70b(4), kH100, 4, 1024, 1024), 12.8, 0.1);
  EXPECT_NEAR(TpotMs(Llama70b(4), kH100, 64, 1024, 1024), 18.7, 0.1);
  EXPECT_NEAR(TpotMs(Llama70b(4), kH100, 16, 8192, 1024), 21.2, 0.1);
  EXPECT_NEAR(TpotMs(Llama70b(8), kH100, 64, 1024, 1024), 12.9, 0.1);
  EXPECT_NEAR(TpotMs(Llama70b(1), kH200, 64, 1024, 1024), 38.4, 0.2);
}

TEST(RooflineCostTest, PricesABatchByItsShape) {
  // One decode of 1,000 tokens of context beside a 2,000-token chunk.
  const RooflineModel model = Llama70b(1);
  RooflineCost cost(model, kH200);
  const double seconds = cost.Seconds({.decode_tokens = 1,
                                       .decode_context = 1000,
                                       .prefill_tokens = 2000,
                                       .routed_tokens = 1});
  EXPECT_EQ(cost.StepNs(Batch({Decode(0, 999), Chunk(1, 0, 2000, false)})),
            static_cast<int64_t>(seconds * 1e9 + 0.5));
}

// With E = 4 and K = 2 a token misses an expert with probability 1/2, so 3
// tokens read 7/8 of the experts and 1 token half of them.
TEST(RooflineCostTest, ReadsTheExpertsThatTokensChoose) {
  RooflineModel model;
  model.other_weight_bytes = 1;
  model.expert_weight_bytes = 8e9;
  model.active_parameters = 1;
  model.num_experts = 4;
  model.experts_per_token = 2;
  model.num_layers = 1;
  model.hidden_size = 1;
  model.kv_bytes_per_token_per_rank = 1e-9;
  const RooflineGpu gpu = {1e12, 1e15, 0};
  const RooflineEfficiencies ideal = {1, 1, 1, 1, 0, 0, 0};
  RooflineCost cost(model, gpu, ideal);
  EXPECT_NEAR(cost.Seconds({.routed_tokens = 3}), 7e-3, 1e-9);
  EXPECT_NEAR(cost.Seconds({.routed_tokens = 1}), 4e-3, 1e-9);
}

TEST(RooflineCostTest, NamesTheMissingField) {
  RooflineGpu gpu = kH100;
  gpu.link_bytes_per_s = 0;
  EXPECT_TRUE(RooflineCost::Validate(Llama70b(1), gpu).ok());
  EXPECT_THAT(std::string(RooflineCost::Validate(Llama70b(2), gpu).message()),
              HasSubstr("field `link_bytes_per_s`: found 0"));
  RooflineModel model = Llama70b(1);
  model.experts_per_token = 2;
  EXPECT_THAT(std::string(RooflineCost::Validate(model, kH100).message()),
              HasSubstr("`experts_per_token`: found 2 of 0"));
}

}  // namespace
}  // namespace kvsim
