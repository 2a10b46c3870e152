#include "engines/startup_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvsim {
namespace {

using ::testing::ElementsAre;

TEST(StartupLogTest, HalfAUnitGoesByTheDigits) {
  EXPECT_DOUBLE_EQ(HalfUnit("55.15"), 0.005);
  EXPECT_DOUBLE_EQ(HalfUnit("13.1"), 0.05);
  EXPECT_DOUBLE_EQ(HalfUnit("28234"), 0);
}

TEST(StartupLogTest, CommasGoAndDigitsStay) {
  StartupLog log;
  log.Set("a", "1,234.50", 3);
  log.Set("b", "x, y", 4);
  EXPECT_EQ(log.Text("a"), "1234.50");
  EXPECT_EQ(log.Number("a"), 1234.5);
  EXPECT_EQ(log.Integer("a"), std::nullopt);
  EXPECT_EQ(log.Text("b"), "x, y");
  EXPECT_EQ(log.Number("c"), std::nullopt);
}

TEST(StartupLogTest, ALaterTextReplacesAnEarlierOneUnlessOnce) {
  StartupLog log;
  log.Set("a", "1", 1);
  log.Set("a", "2", 2);
  log.SetOnce("a", "3", 3);
  EXPECT_EQ(log.Text("a"), "2");
  EXPECT_EQ(log.Find("a")->line, 2);
}

TEST(StartupLogTest, ChildrenAreInOrder) {
  StartupLog log;
  for (const char* rank : {"10", "2", "0"}) {
    log.Set(std::string("ranks.") + rank + ".a", "1", 1);
    log.Set(std::string("ranks.") + rank + ".b", "1", 1);
  }
  EXPECT_THAT(log.Children("ranks."), ElementsAre("0", "2", "10"));
}

}  // namespace
}  // namespace kvsim
