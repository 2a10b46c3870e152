#include "tools/run_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <sstream>

#include "sim/fake_engine.h"

namespace kvsim {
namespace {

using ::testing::IsEmpty;

TEST(RunWatchTest, AnInterruptStopsTheRunAtTheNextStep) {
  std::ostringstream err;
  RunWatch watch(&err);
  FakeEngine engine;
  watch.OnStep({.step = 0}, engine);
  EXPECT_FALSE(*watch.stop());
  std::raise(SIGINT);
  EXPECT_FALSE(*watch.stop());
  watch.OnStep({.step = 1}, engine);
  EXPECT_TRUE(*watch.stop());
}

TEST(RunWatchTest, TheNextRunStartsAfresh) {
  std::ostringstream err;
  {
    RunWatch watch(&err);
    std::raise(SIGINT);
  }
  RunWatch watch(&err);
  FakeEngine engine;
  watch.OnStep({.step = 0}, engine);
  EXPECT_FALSE(*watch.stop());
}

TEST(RunWatchTest, StaysSilentWhereNobodyWatches) {
  std::ostringstream err;
  {
    RunWatch watch(&err);
    FakeEngine engine;
    for (int64_t step = 0; step < 1000; ++step) {
      watch.OnStep({.step = step}, engine);
    }
  }
  EXPECT_THAT(err.str(), IsEmpty());
}

TEST(RunWatchDeathTest, TheSecondInterruptEndsTheProgram) {
  EXPECT_EXIT(
      {
        std::ostringstream err;
        RunWatch watch(&err);
        std::raise(SIGINT);
        std::raise(SIGINT);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace kvsim
