#include "engines/parallel_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvsim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ParallelPlan, DecodeContextRanksAreTensorRanks) {
  const ParallelPlan plan = {.tensor = 8, .pipeline = 2, .decode_context = 8};
  EXPECT_EQ(plan.NumGpus(), 16);
  EXPECT_EQ(plan.ToString(), "TP8 PP2 DCP8");
  EXPECT_EQ(ParallelPlan{}.ToString(), "TP1");
}

TEST(ParallelPlan, RefusesSizesWithFlagAndValue) {
  EXPECT_THAT(std::string(ValidateSizes({.tensor = 0}).message()),
              HasSubstr("--tensor-parallel-size 0"));
  EXPECT_THAT(std::string(ValidateSizes({.pipeline = -1}).message()),
              HasSubstr("--pipeline-parallel-size -1"));
  EXPECT_THAT(
      std::string(ValidateSizes({.tensor = 8, .decode_context = 3}).message()),
      HasSubstr("--decode-context-parallel-size 3: must divide "
                "--tensor-parallel-size 8"));
  EXPECT_TRUE(ValidateSizes({.tensor = 8, .decode_context = 4}).ok());
}

TEST(ShardKvHeads, SplitsOrReplicates) {
  EXPECT_EQ(ShardKvHeads(8, 4)->heads, 2);
  EXPECT_EQ(ShardKvHeads(8, 4)->copies, 1);
  // Llama-3.1-70B under TP16: 8 heads, each on two ranks.
  EXPECT_EQ(ShardKvHeads(8, 16)->heads, 1);
  EXPECT_EQ(ShardKvHeads(8, 16)->copies, 2);
}

TEST(ShardKvHeads, RefusesWithBothNumbers) {
  EXPECT_THAT(std::string(ShardKvHeads(8, 12).status().message()),
              HasSubstr("--tensor-parallel-size 12 does not fit 8 KV heads"));
  EXPECT_FALSE(ShardKvHeads(8, 3).ok());
}

TEST(SplitHeads, RefusesWithBothNumbers) {
  EXPECT_EQ(*SplitHeads(96, 16, "attention heads"), 6);
  EXPECT_THAT(std::string(SplitHeads(32, 3, "KDA heads").status().message()),
              HasSubstr("--tensor-parallel-size 3 does not divide 32 KDA"));
}

TEST(StageSizes, LeftOverLayersGoBeforeTheLastStage) {
  EXPECT_THAT(*StageSizes(62, 2), ElementsAre(31, 31));
  EXPECT_THAT(*StageSizes(61, 2), ElementsAre(31, 30));
  // 61 = 4*15 + 1: one more for the stage before the last.
  EXPECT_THAT(*StageSizes(61, 4), ElementsAre(15, 15, 16, 15));
  EXPECT_THAT(*StageSizes(7, 4), ElementsAre(2, 2, 2, 1));
  EXPECT_FALSE(StageSizes(3, 4).ok());
}

}  // namespace
}  // namespace kvsim
