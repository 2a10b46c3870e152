#include "traces/synthetic_trace.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "traces/trace_stats.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;

std::vector<TraceRequest> Rows(const SyntheticOptions& options) {
  SyntheticTrace trace(options);
  std::vector<TraceRequest> rows;
  TraceRequest row;
  while (trace.Next(&row)) rows.push_back(row);
  return rows;
}

TEST(SyntheticTraceTest, EqualOptionsGiveEqualRowsAndSeedsDiffer) {
  SyntheticOptions options;
  const std::vector<TraceRequest> rows = Rows(options);
  EXPECT_EQ(rows, Rows(options));
  options.seed = 2;
  EXPECT_NE(rows, Rows(options));
}

// The invariants of TraceRequest, and ids as Mooncake files have them.
TEST(SyntheticTraceTest, RowsAreSortedNumberedAndNamed) {
  SyntheticOptions options;
  options.burst_sessions = 5;
  const std::vector<TraceRequest> rows = Rows(options);
  int64_t last_arrival_ns = 0;
  uint64_t next_id = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const TraceRequest& row = rows[i];
    EXPECT_EQ(row.id, static_cast<int64_t>(i));
    EXPECT_GE(row.arrival_ns, last_arrival_ns);
    EXPECT_GE(row.input_length, 1);
    EXPECT_LE(row.input_length, options.max_input);
    EXPECT_GE(row.output_length, 1);
    const auto ids = static_cast<int64_t>(row.hash_ids.size());
    EXPECT_EQ(ids, (row.input_length + 511) / 512);
    for (const uint64_t id : row.hash_ids) {
      EXPECT_LE(id, next_id) << "ids are dense in order of appearance";
      next_id = std::max(next_id, id + 1);
    }
    last_arrival_ns = row.arrival_ns;
  }
}

TEST(SyntheticTraceTest, EveryTurnRepeatsTheConversationSoFar) {
  const std::vector<TraceRequest> rows = Rows(SyntheticOptions());
  int turns = 0;
  for (const TraceRequest& row : rows) {
    if (row.previous < 0) {
      EXPECT_EQ(row.turn, 0);
      continue;
    }
    ++turns;
    const TraceRequest& before = rows[row.previous];
    EXPECT_EQ(row.session, before.session);
    EXPECT_EQ(row.turn, before.turn + 1);
    EXPECT_GT(row.input_length, before.input_length + before.output_length);
    const int64_t whole = before.full_hash_blocks();
    EXPECT_TRUE(std::equal(before.hash_ids.begin(),
                           before.hash_ids.begin() + whole,
                           row.hash_ids.begin()));
  }
  EXPECT_GT(turns, 100);
}

// A Poisson process of 2,000 sessions, 1 s apart: the last starts at 2,000 s
// with a standard deviation of sqrt(2,000) = 45 s.
TEST(SyntheticTraceTest, SessionsStartAtTheGivenRate) {
  SyntheticOptions options;
  options.sessions = 2000;
  options.turns = 1;
  for (const int64_t burst : {1, 10}) {
    options.burst_sessions = burst;
    const std::vector<TraceRequest> rows = Rows(options);
    ASSERT_EQ(rows.size(), 2000u);
    EXPECT_EQ(rows[0].session, -1) << "one turn: no sessions";
    // Bursts of 10 on average vary sqrt(2 * 10) times as much.
    const int64_t tolerance_s = burst == 1 ? 4 * 45 : 4 * 200;
    EXPECT_NEAR(static_cast<double>(rows.back().arrival_ns) / 1e9, 2000.0,
                static_cast<double>(tolerance_s));
  }
}

TEST(SyntheticTraceTest, BurstsCrowdArrivals) {
  SyntheticOptions options;
  options.sessions = 1000;
  options.turns = 1;
  const auto close_pairs = [&options] {
    const std::vector<TraceRequest> rows = Rows(options);
    int pairs = 0;
    for (size_t i = 1; i < rows.size(); ++i) {
      if (rows[i].arrival_ns - rows[i - 1].arrival_ns < 100'000'000) ++pairs;
    }
    return pairs;
  };
  // 1 - exp(-0.1) = 9.5 % of the gaps of a Poisson process are below a tenth of
  // the mean; inside a burst of 20 within 1 s most are.
  EXPECT_LT(close_pairs(), 150);
  options.burst_sessions = 20;
  EXPECT_GT(close_pairs(), 600);
}

TEST(SyntheticTraceTest, SystemPromptsAreShared) {
  SyntheticOptions options;
  options.system_tokens = 5000;
  std::map<uint64_t, std::set<int64_t>> sessions_of_first_id;
  for (const TraceRequest& row : Rows(options)) {
    sessions_of_first_id[row.hash_ids[0]].insert(row.session);
  }
  EXPECT_EQ(sessions_of_first_id.size(), 4u);  // options.system_prompts
}

TEST(SyntheticTraceTest, ContextsGrowBeyondAMillionTokens) {
  SyntheticOptions options;
  options.seed = 3;
  options.sessions = 4;
  options.turns = 60;
  options.turn_tokens = 24'000;
  options.output_tokens = 2000;
  options.max_input = 1'200'000;
  TraceStats stats;
  for (const TraceRequest& row : Rows(options)) stats.Add(row);
  const TraceSummary summary = stats.Summary();
  EXPECT_GT(summary.input.max, 1'048'576);
  EXPECT_LE(summary.input.max, 1'200'000);
  EXPECT_EQ(summary.parent_conflicts, 0);
  EXPECT_EQ(summary.repeated_ids, 0);
}

TEST(SyntheticTraceTest, OptionsOutOfRangeAreNamed) {
  SyntheticOptions options;
  options.hash_block = 0;
  EXPECT_THAT(std::string(CheckSyntheticOptions(options).message()),
              HasSubstr("--hash-block: found 0; accepted: 1 to"));
  options = SyntheticOptions();
  options.sessions = 10'000'000;
  options.turns = 1'000'000;
  EXPECT_THAT(std::string(CheckSyntheticOptions(options).message()),
              HasSubstr("--sessions times --turns"));
}

}  // namespace
}  // namespace kvsim
