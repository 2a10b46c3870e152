#include "base/check.h"

#include <gtest/gtest.h>

namespace kvsim {
namespace {

TEST(CheckTest, HoldingCheckBuildsNoMessage) {
  int built = 0;
  auto message = [&built] {
    ++built;
    return "text";
  };
  KVSIM_CHECK(1 + 1 == 2) << message();
  KVSIM_CHECK_EQ(2, 2) << message();
  KVSIM_CHECK_LT(1, 2) << message();
  EXPECT_EQ(built, 0);
}

TEST(CheckTest, EvaluatesArgumentsOnce) {
  int calls = 0;
  KVSIM_CHECK(++calls == 1);
  KVSIM_CHECK_EQ(++calls, 2);
  EXPECT_EQ(calls, 2);
}

TEST(CheckTest, IsOneStatement) {
  // An unbraced `if` keeps its `else`.
  bool reached = false;
  if (false)
    KVSIM_CHECK(false);
  else
    reached = true;
  EXPECT_TRUE(reached);
}

TEST(CheckDeathTest, NamesConditionAndText) {
  EXPECT_DEATH(KVSIM_CHECK(1 > 2) << "block " << 7,
               "check_test.cc:.*check failed: 1 > 2 block 7");
}

TEST(CheckDeathTest, NamesBothValues) {
  const int held = 3;
  EXPECT_DEATH(KVSIM_CHECK_EQ(held, 4) << "held",
               "check failed: held == 4 \\(3 vs. 4\\) held");
  EXPECT_DEATH(KVSIM_CHECK_GE(held, 4), "held >= 4 \\(3 vs. 4\\)");
}

}  // namespace
}  // namespace kvsim
