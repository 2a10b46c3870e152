#include "sim/pool_metrics.h"

#include <gtest/gtest.h>

#include "sim/fake_batches.h"
#include "sim/fake_engine.h"

namespace kvsim {
namespace {

class PoolMetricsTest : public ::testing::Test {
 protected:
  void Step(int64_t start_ns, int64_t end_ns, int64_t running, int64_t waiting,
            AdmissionLimit limit) {
    StepPlan plan = Batch({Decode(0, 1)});
    plan.limit = limit;
    StepRecord record;
    record.start_ns = start_ns;
    record.end_ns = end_ns;
    record.scheduled = true;
    record.plan = record.processed = &plan;
    record.after_schedule.running = running;
    record.after_schedule.waiting = waiting;
    record.at_end.running = running;
    metrics_.OnStep(record, engine_);
  }
  // A pool of 100 bytes of which `live` are held and the rest is free.
  void Hold(int64_t live) {
    engine_.ledger = {};
    engine_.ledger.pool_bytes = 100;
    engine_.ledger[Account::kLive] = live;
    engine_.ledger[Account::kFree] = 100 - live;
    engine_.ledger[OfWhich::kSharedRows] = live / 2;
  }

  FakeEngine engine_;
  PoolMetrics metrics_;
};

// Two groups: 10 and 30 bytes live for 10 ns, then 20 and 60 for 30 ns.
TEST_F(PoolMetricsTest, EveryGroupHasItsLedgerOfTheSameMoments) {
  const auto hold = [&](int64_t first, int64_t second) {
    Hold(first + second);
    engine_.groups.assign(2, LedgerSnapshot());
    engine_.groups[0][Account::kLive] = first;
    engine_.groups[1][Account::kLive] = second;
  };
  hold(10, 30);
  Step(0, 10, 1, 0, AdmissionLimit::kNoneWaiting);
  hold(20, 60);
  Step(10, 40, 1, 0, AdmissionLimit::kNoneWaiting);
  hold(0, 0);
  Step(40, 50, 1, 0, AdmissionLimit::kNoneWaiting);
  const PoolSummary summary = metrics_.Summary();
  ASSERT_EQ(summary.groups.size(), 2u);
  EXPECT_EQ(summary.groups[0].peak[Account::kLive], 20);
  EXPECT_EQ(summary.groups[1].peak[Account::kLive], 60);
  EXPECT_EQ(summary.groups[0].mean[Account::kLive], 14);  // (100 + 600) / 50
  EXPECT_EQ(summary.groups[1].mean[Account::kLive], 42);
  EXPECT_EQ(summary.ledger_mean[Account::kLive], 56);
}

TEST_F(PoolMetricsTest, WeighsByTimeAndCountsIdleTime) {
  Hold(10);
  Step(1000, 1010, 2, 1, AdmissionLimit::kBlocks);
  Hold(40);
  Step(1010, 1040, 4, 0, AdmissionLimit::kNoneWaiting);
  Hold(0);
  Step(1060, 1070, 1, 3, AdmissionLimit::kBlocks);  // after 20 ns of idling
  const PoolSummary summary = metrics_.Summary();
  EXPECT_EQ(summary.DurationNs(), 70);
  EXPECT_EQ(summary.idle_ns, 20);
  EXPECT_EQ(summary.peak_running, 4);
  EXPECT_EQ(summary.peak_running_ns, 1010);
  EXPECT_EQ(summary.peak_waiting, 3);
  // (2·10 + 4·30 + 0·20 + 1·10) / 70.
  EXPECT_DOUBLE_EQ(summary.mean_running, 150.0 / 70);
  EXPECT_DOUBLE_EQ(summary.mean_waiting, 40.0 / 70);
  const auto blocks = static_cast<size_t>(AdmissionLimit::kBlocks);
  EXPECT_EQ(summary.limit_ns[blocks], 20);
  EXPECT_EQ(summary.limit_steps[blocks], 2);
  EXPECT_EQ(summary.limit_ns[0], 30);
  // While idle the pool stays as the last step left it:
  // (10·10 + 40·(30 + 20) + 0·10) / 70 = 30 bytes.
  EXPECT_EQ(summary.ledger_mean[Account::kLive], 30);
  EXPECT_EQ(summary.ledger_mean[Account::kFree], 70);
  EXPECT_EQ(summary.ledger_mean[OfWhich::kSharedRows], 15);
  EXPECT_TRUE(summary.ledger_mean.Balanced());
}

TEST_F(PoolMetricsTest, ThePeakIsTheFirstStepThatHeldMost) {
  Hold(10);
  Step(0, 10, 1, 0, AdmissionLimit::kNoneWaiting);
  Hold(60);
  Step(10, 20, 5, 0, AdmissionLimit::kNoneWaiting);
  Step(20, 30, 6, 0, AdmissionLimit::kNoneWaiting);
  const PoolSummary summary = metrics_.Summary();
  EXPECT_EQ(summary.ledger_peak[Account::kLive], 60);
  EXPECT_EQ(summary.ledger_peak_ns, 20);
  EXPECT_EQ(summary.ledger_peak_running, 5);
}

TEST_F(PoolMetricsTest, ByteTimesBeyond64BitsAreExact) {
  // 2^50 bytes for 2^40 ns is 2^90 byte·ns.
  engine_.ledger.pool_bytes = int64_t{1} << 50;
  engine_.ledger[Account::kLive] = int64_t{1} << 50;
  Step(0, int64_t{1} << 40, 1, 0, AdmissionLimit::kNoneWaiting);
  EXPECT_EQ(metrics_.Summary().ledger_mean[Account::kLive], int64_t{1} << 50);
}

TEST_F(PoolMetricsTest, NothingHappenedIsAllZero) {
  const PoolSummary summary = metrics_.Summary();
  EXPECT_EQ(summary.steps, 0);
  EXPECT_EQ(summary.mean_running, 0);
  EXPECT_EQ(summary.ledger_mean, LedgerSnapshot{});
}

}  // namespace
}  // namespace kvsim
