#include "engines/vllm/planner_switches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvsim::vllm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

PlannerSwitches For(absl::string_view version) {
  return SwitchesFor(version)->switches;
}

TEST(PlannerSwitches, NoVersionMeansTheNewestRules) {
  const VersionedSwitches newest = *SwitchesFor("");
  EXPECT_EQ(newest.version, "newest known rules");
  EXPECT_EQ(newest.switches.token_line, TokenLine::kConcurrency);
  EXPECT_EQ(newest.switches.async_batches, 2);
  EXPECT_THAT(newest.notes, IsEmpty());
}

// 0.19.2rc1.dev43 was the last seen with the old token line, 0.20.1 the first
// with the new one.
TEST(PlannerSwitches, TokenLineChangesBetweenReleases) {
  EXPECT_EQ(For("0.19.2rc1.dev43").token_line, TokenLine::kBlocks);
  EXPECT_EQ(For("0.20.1").token_line, TokenLine::kConcurrency);
  EXPECT_EQ(For("v0.21.0").token_line, TokenLine::kConcurrency);
}

// 0.9 is older than 0.20 although its text sorts after it.
TEST(PlannerSwitches, VersionsCompareAsNumbers) {
  EXPECT_EQ(For("0.9.2").token_line, TokenLine::kBlocks);
  EXPECT_DOUBLE_EQ(For("0.9.2").sampler_factor, 9.65);
}

TEST(PlannerSwitches, BatchesInFlight) {
  EXPECT_EQ(For("0.23.0").async_batches, 1);
  EXPECT_EQ(For("0.27.1").async_batches, 2);
}

TEST(PlannerSwitches, CompressedPoolChangedTwice) {
  EXPECT_EQ(For("0.22.1rc1.dev134").compressed_pool, CompressedPool::kTuple);
  EXPECT_EQ(For("0.23.0").compressed_pool, CompressedPool::kBucket);
  EXPECT_EQ(For("2026-08-17").compressed_pool, CompressedPool::kPacked);
}

TEST(PlannerSwitches, BetweenTwoVersionsSeenIsOldWithANote) {
  const VersionedSwitches between = *SwitchesFor("0.25.0");
  EXPECT_EQ(between.switches.async_batches, 1);
  EXPECT_THAT(between.notes,
              ::testing::Contains(HasSubstr("'batches in flight'")));
}

TEST(PlannerSwitches, DatesOfMainCommits) {
  EXPECT_EQ(For("2026-04-21").token_line, TokenLine::kBlocks);
  EXPECT_DOUBLE_EQ(For("2026-04-21").default_utilization, 0.90);
  EXPECT_FALSE(For("2026-04-21").subtracts_cuda_graphs);
  EXPECT_EQ(For("2026-05-24").token_line, TokenLine::kConcurrency);
  EXPECT_EQ(For("2026-05-24").async_batches, 1);
  EXPECT_FALSE(For("2026-05-24").one_log_line);
  EXPECT_EQ(For("2026-08-06").async_batches, 2);
  EXPECT_TRUE(For("2026-08-17").one_log_line);
}

TEST(PlannerSwitches, FutureAndForkVersionsTakeTheNewestRulesWithANote) {
  EXPECT_THAT(SwitchesFor("1.4.0")->notes,
              ElementsAre(HasSubstr("newer than any version seen")));
  EXPECT_THAT(SwitchesFor("2027-01-01")->notes,
              ElementsAre(HasSubstr("newer than any version seen")));
  EXPECT_THAT(SwitchesFor("0.1.dev20051")->notes,
              ElementsAre(HasSubstr("fork's or development number")));
  EXPECT_EQ(For("0.1.dev20051").async_batches, 2);
}

TEST(PlannerSwitches, RefusesWhatIsNeitherReleaseNorDate) {
  for (const char* bad : {"latest", "x.y", "0", "..", "-1"}) {
    EXPECT_THAT(std::string(SwitchesFor(bad).status().message()),
                HasSubstr(bad));
  }
}

// Hybrid models cached prefixes only on request up to 0.27.1; V0 was the engine
// before 0.8.0; builds around 0.11 print a pair of lines for every worker.
TEST(PlannerSwitches, DefaultsOfHybridsEnginesAndLines) {
  EXPECT_FALSE(For("0.27.1").hybrid_prefix_caching);
  EXPECT_TRUE(For("2026-08-17").hybrid_prefix_caching);
  EXPECT_TRUE(For("0.6.4").previous_engine);
  EXPECT_TRUE(For("0.6.4").says_gpu_blocks);
  EXPECT_TRUE(For("0.7.3").previous_engine);
  EXPECT_FALSE(For("0.7.3").says_gpu_blocks);
  EXPECT_FALSE(For("0.8.0").previous_engine);
  EXPECT_TRUE(For("0.11.0").lines_per_worker);
  EXPECT_FALSE(For("0.13.0").lines_per_worker);
  EXPECT_FALSE(For("0.19.2").override_in_check);
  EXPECT_TRUE(For("0.28.0").override_in_check);
}

}  // namespace
}  // namespace kvsim::vllm
