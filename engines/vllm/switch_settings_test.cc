#include "engines/vllm/switch_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kvsim::vllm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

PlannerSwitches Of(const char* version) {
  return SwitchesFor(version)->switches;
}

std::vector<std::string> Settings(const PlannerSwitches& from,
                                  const PlannerSwitches& to) {
  std::vector<std::string> settings;
  for (const SwitchDifference& difference : DifferentSwitches(from, to)) {
    settings.push_back(difference.Setting());
  }
  return settings;
}

// What planner_switches.cc says of the two: after 0.19.2 the token line, the
// utilization, the graphs, both pools and all that came later are new.
TEST(SwitchSettings, VersionsDifferByNamedRules) {
  EXPECT_THAT(Settings(Of("0.20.1"), Of("0.23.0")),
              ElementsAre("cuda-graphs=counted", "compressed-pool=bucket"));
  EXPECT_THAT(
      Settings(Of("0.19.2"), Of("0.20.1")),
      ElementsAre("default-utilization=0.92", "token-line=concurrency"));
  EXPECT_THAT(Settings(Of("0.23.0"), Of("0.23.0")), IsEmpty());
}

// Whatever the versions, there and back: the names tell everything.
TEST(SwitchSettings, SettingAllDifferencesTurnsOneIntoTheOther) {
  const char* kVersions[] = {"0.6.4",  "0.7.3",  "0.11.0", "0.16.0", "0.17.0",
                             "0.19.2", "0.20.1", "0.23.0", "0.27.1", "0.31.0"};
  for (const char* from : kVersions) {
    for (const char* to : kVersions) {
      PlannerSwitches switches = Of(from);
      for (const SwitchDifference& difference :
           DifferentSwitches(switches, Of(to))) {
        EXPECT_TRUE(SetSwitch(difference.Setting(), &switches).ok());
      }
      EXPECT_TRUE(switches == Of(to)) << from << " " << to;
    }
  }
}

TEST(SwitchSettings, ADifferenceSaysWhichVersionsChangedIt) {
  const SwitchDifference line =
      DifferentSwitches(Of("0.20.1"), Of("0.19.2"))[1];
  EXPECT_EQ(line.name, "token-line");
  EXPECT_EQ(line.from, "concurrency");
  EXPECT_EQ(line.seen, "blocks last seen in 0.19.2, what came next in 0.20.1");
  EXPECT_THAT(line.rule, HasSubstr("blocks // groups"));
  EXPECT_EQ(line.source, "vLLM, v1/core/kv_cache_utils.py");
}

TEST(SwitchSettings, EveryOneCanBeSetByItsName) {
  PlannerSwitches switches;
  for (const char* setting :
       {"token-line=blocks", "batches-in-flight=3", "compressed-pool=tuple",
        "log-lines=per-worker", "hybrid-prefix-caching=off", "engine=v0"}) {
    EXPECT_TRUE(SetSwitch(setting, &switches).ok()) << setting;
  }
  EXPECT_EQ(switches.token_line, TokenLine::kBlocks);
  EXPECT_EQ(switches.async_batches, 3);
  EXPECT_EQ(switches.compressed_pool, CompressedPool::kTuple);
  EXPECT_TRUE(switches.lines_per_worker);
  EXPECT_FALSE(switches.hybrid_prefix_caching);
  EXPECT_TRUE(switches.previous_engine);
}

TEST(SwitchSettings, AWrongSettingListsTheRightOnes) {
  PlannerSwitches switches;
  for (const char* setting :
       {"token-line", "token-line=words", "batches-in-flight=0", ""}) {
    EXPECT_THAT(std::string(SetSwitch(setting, &switches).message()),
                HasSubstr("token-line=concurrency"))
        << setting;
  }
}

}  // namespace
}  // namespace kvsim::vllm
