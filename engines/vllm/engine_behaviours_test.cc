#include "engines/vllm/engine_behaviours.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvsim::vllm {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Dated {
  Settings settings;
  std::vector<std::string> notes;
};

Dated At(absl::string_view version) {
  Dated dated;
  EXPECT_TRUE(ApplyVersion(version, &dated.settings, &dated.notes).ok());
  return dated;
}

TEST(EngineBehaviours, TheNewestVersionIsWhatSettingsStartWith) {
  for (const char* version : {"", "2026-08-17", "0.31.0"}) {
    const Dated newest = At(version);
    EXPECT_THAT(newest.notes, IsEmpty());
    EXPECT_EQ(newest.settings.retention_interval, 0);
    EXPECT_EQ(newest.settings.free_order, FreeOrder::kPrependUnkeyed);
    EXPECT_TRUE(newest.settings.reserve_full_sequence);
    EXPECT_TRUE(newest.settings.junctions);
  }
}

// Each commit of the table on its day and the day before.
TEST(EngineBehaviours, ABehaviourComesWithItsCommit) {
  EXPECT_FALSE(At("2026-08-16").settings.retention_interval.has_value());
  EXPECT_EQ(At("2026-08-11").settings.free_order, FreeOrder::kPrependUnkeyed);
  EXPECT_EQ(At("2026-08-10").settings.free_order,
            FreeOrder::kPrependWhenCaching);
  EXPECT_EQ(At("2026-06-04").settings.free_order,
            FreeOrder::kPrependWhenCaching);
  EXPECT_EQ(At("2026-06-03").settings.free_order, FreeOrder::kAppend);
  EXPECT_TRUE(At("2026-08-06").settings.realign_chunks);
  EXPECT_FALSE(At("2026-08-05").settings.realign_chunks);
  EXPECT_TRUE(At("2026-07-13").settings.junctions);
  EXPECT_FALSE(At("2026-07-12").settings.junctions);
  EXPECT_TRUE(At("2026-07-12").settings.partial_hits);
  EXPECT_FALSE(At("2026-07-11").settings.partial_hits);
  EXPECT_TRUE(At("2026-07-08").settings.free_on_processed);
  EXPECT_FALSE(At("2026-07-07").settings.free_on_processed);
  EXPECT_TRUE(At("2026-06-02").settings.sparse_keys);
  EXPECT_FALSE(At("2026-06-01").settings.sparse_keys);
  EXPECT_TRUE(At("2026-04-27").settings.window_admission_cap);
  EXPECT_FALSE(At("2026-04-26").settings.window_admission_cap);
  EXPECT_TRUE(At("2026-03-24").settings.reserve_full_sequence);
  EXPECT_FALSE(At("2026-03-23").settings.reserve_full_sequence);
  EXPECT_TRUE(At("2026-02-10").settings.same_step_state_guard);
  EXPECT_FALSE(At("2026-02-09").settings.same_step_state_guard);
}

TEST(EngineBehaviours, AReleaseBetweenTwoSeenTakesTheOlderOneAndSaysSo) {
  const Dated between = At("0.25.0");
  EXPECT_FALSE(between.settings.junctions);
  ASSERT_EQ(between.notes.size(), 1u);
  EXPECT_THAT(between.notes[0], HasSubstr("junctions (#47782)"));
  EXPECT_THAT(At("0.23.0").notes[0], Not(HasSubstr("junctions")));
}

TEST(EngineBehaviours, WhatIsNoBehaviourStays) {
  Settings settings;
  settings.num_gpu_blocks = 7;
  settings.enable_prefix_caching = false;
  std::vector<std::string> notes;
  ASSERT_TRUE(ApplyVersion("2026-02-27", &settings, &notes).ok());
  EXPECT_EQ(settings.num_gpu_blocks, 7);
  EXPECT_FALSE(settings.enable_prefix_caching);
}

TEST(EngineBehaviours, AVersionThatCannotBeReadIsNamed) {
  Settings settings;
  std::vector<std::string> notes;
  EXPECT_THAT(ApplyVersion("latest", &settings, &notes).ToString(),
              HasSubstr("--engine-version 'latest'"));
}

}  // namespace
}  // namespace kvsim::vllm
