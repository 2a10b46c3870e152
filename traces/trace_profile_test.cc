#include "traces/trace_profile.h"

#include <algorithm>
#include <list>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "traces/test_traces.h"
#include "traces/trace_stats.h"

namespace kvsim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(DescribeTest, QuantilesAndPowersOfTwo) {
  const ValueSummary d = Describe({5, 0, 1, 4, 8});
  EXPECT_EQ(d.count, 5);
  EXPECT_EQ(d.total, 18);
  EXPECT_EQ(d.min, 0);
  EXPECT_EQ(d.p50, 4);
  EXPECT_EQ(d.p99, 5);  // element floor(0.99 * 4) = 3 of 0 1 4 5 8
  EXPECT_EQ(d.max, 8);
  ASSERT_THAT(d.buckets, SizeIs(4));
  EXPECT_EQ(d.buckets[2].low, 4);
  EXPECT_EQ(d.buckets[2].count, 2);
  EXPECT_EQ(Describe({}).count, 0);
}

// An LRU list that is walked from its front.
class NaiveDistance {
 public:
  std::optional<int64_t> Use(uint64_t key) {
    std::optional<int64_t> distance;
    const auto it = std::find(list_.begin(), list_.end(), key);
    if (it != list_.end()) {
      distance = std::distance(list_.begin(), it);
      list_.erase(it);
    }
    list_.push_front(key);
    return distance;
  }

 private:
  std::list<uint64_t> list_;
};

TEST(ReuseDistanceTest, EqualsAnLruList) {
  for (const uint64_t keys : {1u, 2u, 7u, 100u}) {
    std::mt19937_64 random(keys);
    ReuseDistance fast;
    NaiveDistance naive;
    for (int i = 0; i < 1000; ++i) {
      const uint64_t key = random() % keys;
      ASSERT_EQ(fast.Use({0, key}), naive.Use(key)) << keys << " " << i;
    }
  }
}

TraceRequest Row(int64_t id, int64_t arrival_ns, std::vector<uint64_t> ids,
                 int64_t tail = 0) {
  TraceRequest row;
  row.id = id;
  row.arrival_ns = arrival_ns;
  row.hash_block = 4;
  row.input_length = static_cast<int64_t>(ids.size()) * 4 + tail;
  row.output_length = 2;
  row.hash_ids = std::move(ids);
  return row;
}

// Root 1 with children 2 and 3; 2 goes on to 4 alone. Paths 1 2 4, 1 2 4, 1 3,
// 9.
TEST(PrefixTreeTest, CountsSharingAndBranches) {
  PrefixTree tree;
  EXPECT_EQ(tree.Add(Row(0, 0, {1, 2, 4})).blocks, 0);
  EXPECT_EQ(tree.Add(Row(1, 0, {1, 2, 4}, 3)).blocks, 3);
  const PrefixHit hit = tree.Add(Row(2, 0, {1, 3}));
  EXPECT_EQ(hit.blocks, 1);
  EXPECT_EQ(hit.last_row, 1);
  EXPECT_EQ(tree.Add(Row(3, 0, {9})).blocks, 0);
  const PrefixTreeSummary summary = tree.Summary(10);
  EXPECT_EQ(summary.nodes, 5);
  EXPECT_EQ(summary.roots, 2);
  EXPECT_EQ(summary.shared_nodes, 3);
  EXPECT_EQ(summary.hit_blocks, 4);
  EXPECT_EQ(summary.hit_tokens, 16);
  EXPECT_EQ(summary.max_depth, 3);
  EXPECT_THAT(summary.children, ElementsAre(2));
  // Block 1: 3 rows save 2 * 4 tokens. Blocks 2 and 4: 2 rows save 8 tokens.
  ASSERT_THAT(summary.hot, SizeIs(2));
  EXPECT_EQ(summary.hot[0].rows, 3);
  EXPECT_EQ(summary.hot[0].tokens, 4);
  EXPECT_EQ(summary.hot[0].saved_tokens, 8);
  EXPECT_EQ(summary.hot[1].rows, 2);
  EXPECT_EQ(summary.hot[1].tokens, 12);
  EXPECT_EQ(summary.hot[1].shared_tokens, 8);
  EXPECT_EQ(summary.hot[1].last_id, 4u);
  EXPECT_THAT(tree.Summary(1).hot, SizeIs(1));
}

// The same id behind another id is another prefix, and so it is in another
// scope.
TEST(PrefixTreeTest, AnIdIsNoPrefix) {
  PrefixTree tree;
  tree.Add(Row(0, 0, {1, 5}));
  EXPECT_EQ(tree.Add(Row(1, 0, {2, 5})).blocks, 0);
  TraceRequest elsewhere = Row(2, 0, {1, 5});
  elsewhere.scope = 1;
  EXPECT_EQ(tree.Add(elsewhere).blocks, 0);
}

// Rows of 10 tokens that share 8: blocks of 2, 4 and 8 hit them all, blocks of
// 3 hit two (6 tokens), of 5 one, of 16 none.
TEST(BlockSizeCeilingTest, LargerBlocksHitLess) {
  for (const auto& [block, hit] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 8}, {2, 8}, {3, 6}, {4, 8}, {5, 5}, {8, 8}, {16, 0}}) {
    BlockSizeCeiling ceiling(block);
    ceiling.Add(Row(0, 0, {1, 2}, 2));
    ceiling.Add(Row(1, 0, {1, 2}, 2));
    EXPECT_EQ(ceiling.hit_tokens(), hit) << block;
    EXPECT_EQ(ceiling.tail_tokens(), 2 * (10 % block)) << block;
  }
}

TEST(TraceProfilerTest, PutsThePartsTogether) {
  TraceProfiler profiler({4, 8});
  TraceRequest first = Row(0, 0, {1, 2});
  first.session = 3;
  TraceRequest second = Row(1, 0, {1});
  TraceRequest third = Row(2, 61'000'000'000, {1, 2, 3});
  third.session = 3;
  third.previous = 0;
  third.think_time_ns = 7;
  for (const TraceRequest& row : {first, second, third}) profiler.Add(row);
  const TraceProfile profile = profiler.Profile(5);
  EXPECT_EQ(profile.rows, 3);
  EXPECT_EQ(profile.input.total, 24);
  EXPECT_EQ(profile.arrivals.distinct, 2);
  EXPECT_EQ(profile.arrivals.most_at_once, 2);
  EXPECT_EQ(profile.arrivals.busiest_minute, 2);
  // Gaps 0 and 61 s: variance equals the mean squared.
  EXPECT_DOUBLE_EQ(profile.arrivals.gap_variation, 1);
  // Block 1 again behind block 2; then 1 again at once, then 2 behind 1.
  EXPECT_EQ(profile.reuse_blocks.count, 3);
  EXPECT_EQ(profile.reuse_blocks.total, 1 + 0 + 1);
  EXPECT_EQ(profile.reuse_ns.max, 61'000'000'000);
  EXPECT_EQ(profile.sessions.sessions, 1);
  EXPECT_EQ(profile.sessions.rows, 2);
  EXPECT_EQ(profile.sessions.turns.max, 2);
  EXPECT_EQ(profile.sessions.think_ns.total, 7);
  ASSERT_THAT(profile.block_sizes, SizeIs(2));
  EXPECT_EQ(profile.block_sizes[0].hit_tokens, 4 + 8);
  EXPECT_EQ(profile.block_sizes[1].hit_tokens, 8);
}

// The conversation trace of Mooncake: counts by an independent program (means,
// quantiles, distinct times), and the tree against TraceStats.
TEST(PublicTraceTest, MooncakeConversation) {
  const std::string path = PublicTrace("mooncake_conversation.jsonl");
  if (path.empty()) GTEST_SKIP() << "KVSIM_SHARED is not set";
  TraceProfiler profiler({512, 1024});
  TraceStats stats;
  const ReadResult result = ReadTrace(path);
  ASSERT_THAT(result.errors, IsEmpty());
  for (const TraceRequest& row : result.rows) {
    profiler.Add(row);
    stats.Add(row);
  }
  const TraceProfile profile = profiler.Profile(3);
  const TraceSummary summary = stats.Summary();
  EXPECT_EQ(static_cast<int64_t>(profile.input.mean()), 12'035);
  EXPECT_EQ(profile.input.p99, 85'399);
  EXPECT_EQ(profile.arrivals.distinct, 1'180);
  EXPECT_EQ(profile.tree.hit_tokens, summary.hit_full_block_tokens);
  EXPECT_EQ(profile.block_sizes[0].hit_tokens, summary.hit_full_block_tokens);
  EXPECT_LT(profile.block_sizes[1].hit_tokens, summary.hit_full_block_tokens);
}

}  // namespace
}  // namespace kvsim
