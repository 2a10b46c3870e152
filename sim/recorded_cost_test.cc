#include "sim/recorded_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "sim/fake_batches.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<std::unique_ptr<RecordedCost>> Read(const std::string& text) {
  std::istringstream in(text);
  return RecordedCost::Read(in, "steps.txt");
}

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

TEST(RecordedCostTest, ReplaysUnitsCommentsCarriageReturnsAndNoFinalNewline) {
  auto cost = Read("# a run\r\n19873us\r\n\n20 ms # slow\n1500");
  ASSERT_TRUE(cost.ok()) << cost.status();
  const StepPlan batch = Batch({Decode(0, 1)});
  EXPECT_EQ((*cost)->StepNs(batch), 19'873'000);
  EXPECT_EQ((*cost)->StepNs(batch), 20'000'000);
  EXPECT_EQ((*cost)->StepNs(batch), 1500);
  EXPECT_TRUE((*cost)->status().ok());
}

TEST(RecordedCostTest, SaysWhereTheRecordingEnded) {
  auto cost = Read("5ms\n7ms\n");
  ASSERT_TRUE(cost.ok());
  const StepPlan batch = Batch({Decode(0, 1)});
  for (int i = 0; i < 3; ++i) (*cost)->StepNs(batch);
  EXPECT_THAT(Message((*cost)->status()),
              HasSubstr("steps.txt:2: the file ends after 2 steps"));
}

TEST(RecordedCostTest, NamesFileLineAndValueOfABadDuration) {
  for (const char* bad : {"fast", "-5", "0", "nan", "1e3", "-1ms",
                          "9223372036854775808", "20000s s"}) {
    const auto cost = Read(std::string("5ms\n") + bad + "\n");
    ASSERT_FALSE(cost.ok()) << bad;
    EXPECT_THAT(Message(cost.status()), HasSubstr("steps.txt:2: "));
    EXPECT_THAT(Message(cost.status()), HasSubstr(bad));
  }
}

TEST(RecordedCostTest, RefusesAnEmptyAndAMissingFile) {
  EXPECT_THAT(Message(Read("# nothing\n").status()),
              HasSubstr("steps.txt: no step durations"));
  EXPECT_THAT(Message(RecordedCost::Open("/no/such/file").status()),
              HasSubstr("/no/such/file: No such file"));
}

}  // namespace
}  // namespace kvsim
