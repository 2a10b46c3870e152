#include "sim/contiguous_baseline.h"

#include <gtest/gtest.h>

#include "sim/fixed_cost.h"
#include "sim/vector_trace_reader.h"

namespace kvsim {
namespace {

ContiguousSummary Replay(Reservation reservation,
                         std::vector<TraceRequest> rows,
                         int64_t capacity_tokens) {
  VectorTraceReader reader(std::move(rows));
  FixedCost cost(10);
  ContiguousSettings settings;
  settings.reservation = reservation;
  settings.capacity_tokens = capacity_tokens;
  settings.max_model_len = 100;
  const auto summary = RunContiguous(
      settings, {.max_model_len = 100, .arrivals = Arrivals::kTimestamps},
      &cost, &reader);
  EXPECT_TRUE(summary.ok()) << summary.status();
  return *summary;
}

TraceRequest Row(int64_t arrival_ns, int64_t input, int64_t output) {
  TraceRequest row;
  row.arrival_ns = arrival_ns;
  row.input_length = input;
  row.output_length = output;
  return row;
}

TEST(ContiguousBaselineTest, SharesOfThePoolAreThoseOfTheTwoSteps) {
  // One request of 10 + 2 tokens in a pool of 100 runs two steps: 10 rows in
  // the first, 11 in the second; the last output's row is never computed.
  const ContiguousSummary s =
      Replay(Reservation::kMaxLength, {Row(0, 10, 2)}, 100);
  EXPECT_EQ(s.duration_ns, 20);
  EXPECT_EQ(s.finished, 1);
  EXPECT_DOUBLE_EQ(s.used, (10 + 11) / 200.0);
  EXPECT_DOUBLE_EQ(s.later, (2 + 1) / 200.0);
  EXPECT_DOUBLE_EQ(s.never_used, 88 / 100.0);
  EXPECT_DOUBLE_EQ(s.free, 0);
  EXPECT_DOUBLE_EQ(s.mean_running, 1);
}

TEST(ContiguousBaselineTest, IdleTimeIsFree) {
  // Two steps of 10 ns at 0 and at 80 ns, 60 ns apart.
  const ContiguousSummary s =
      Replay(Reservation::kOracle, {Row(0, 10, 2), Row(80, 10, 2)}, 100);
  EXPECT_EQ(s.duration_ns, 100);
  EXPECT_DOUBLE_EQ(s.mean_running, 0.4);
  EXPECT_DOUBLE_EQ(s.never_used, 0);
  EXPECT_DOUBLE_EQ(s.free, (4 * 88 * 10 + 60 * 100) / 10000.0);
  EXPECT_NEAR(s.used + s.later + s.never_used + s.free, 1, 1e-12);
}

TEST(ContiguousBaselineTest, WhatIsFreeWhileTheHeadWaitsIsExternal) {
  // 12 of 20 slots are reserved; the second request needs 12 and waits two
  // steps before 8 free slots; then it runs alone.
  const ContiguousSummary s =
      Replay(Reservation::kOracle, {Row(0, 10, 2), Row(0, 10, 2)}, 20);
  EXPECT_EQ(s.peak_running, 1);
  EXPECT_DOUBLE_EQ(s.free, 8 / 20.0);
  EXPECT_DOUBLE_EQ(s.external, 8 / 20.0 / 2);
}

TEST(ContiguousBaselineTest, CountsWhatCanNeverFit) {
  const ContiguousSummary s = Replay(
      Reservation::kOracle, {Row(0, 50, 2), Row(0, 100, 2), Row(0, 5, 2)}, 20);
  EXPECT_EQ(s.never_fit, 2);  // larger than the pool; longer than allowed
  EXPECT_EQ(s.finished, 1);
}

}  // namespace
}  // namespace kvsim
