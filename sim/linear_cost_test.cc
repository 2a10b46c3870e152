#include "sim/linear_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/fake_batches.h"
#include "sim/fixed_cost.h"
#include "sim/round_ns.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;

TEST(LinearCostTest, AddsItsTerms) {
  LinearCost cost({.base_us = 5000,
                   .prefill_token_us = 20,
                   .decode_request_us = 100,
                   .context_token_us = 0.5});
  // 5000 + 64·20 + 2·100 + (100 + 200 + 32)·0.5 = 6646 us.
  EXPECT_EQ(cost.StepNs(
                Batch({Decode(0, 99), Decode(1, 199), Chunk(2, 32, 64, true)})),
            6'646'000);
}

TEST(LinearCostTest, RoundsHalvesUpAndTimeAlwaysMoves) {
  LinearCost half({.base_us = 0.0105});
  EXPECT_EQ(half.StepNs(Batch({Decode(0, 1)})), 11);  // 10.5 ns
  LinearCost nothing({});
  EXPECT_EQ(nothing.StepNs(Batch({Decode(0, 1)})), 1);
  EXPECT_EQ(RoundNs(1e300), 1'000'000'000'000'000);
}

TEST(LinearCostTest, ParsesItsFlagInAnyOrder) {
  const auto parsed = ParseLinearCoefficients("decode=100,base=5e3,context=.5");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, (LinearCoefficients{.base_us = 5000,
                                         .decode_request_us = 100,
                                         .context_token_us = 0.5}));
}

TEST(LinearCostTest, RefusesWhatItCannotPrice) {
  for (const char* text : {"", "base", "base=", "base=nan", "base=-1",
                           "base=1e10", "base=1,base=2", "step=3",
                           "base=1,,decode=2", "base=1us", "base=inf"}) {
    const auto parsed = ParseLinearCoefficients(text);
    EXPECT_FALSE(parsed.ok()) << text;
    EXPECT_THAT(std::string(parsed.status().message()),
                HasSubstr("accepted: base=US"));
  }
}

TEST(FixedCostTest, IsTheSameForEveryBatch) {
  FixedCost cost(20'000'000);
  EXPECT_EQ(cost.StepNs(Batch({Decode(0, 1)})), 20'000'000);
  EXPECT_EQ(cost.StepNs(Batch({Chunk(0, 0, 8192, false)})), 20'000'000);
}

}  // namespace
}  // namespace kvsim
