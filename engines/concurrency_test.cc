#include "engines/concurrency.h"

#include <gtest/gtest.h>

namespace kvsim {
namespace {

// One group of full history: 16 tokens of 100 B a block, 101 blocks with the
// null block, and 50 B that the pool leaves over.
PoolPlan FullHistoryPool() {
  PoolPlan plan;
  CacheGroup group;
  group.kind = "full_attention";
  group.demand.block_tokens = Tokens(16);
  group.page = group.used = Bytes(1600);
  plan.groups = {group};
  plan.ranks = {{.num_layers = 1,
                 .kv_memory = Bytes(101 * 1600 + 50),
                 .bytes_per_block = Bytes(1600),
                 .own_blocks = Blocks(101),
                 .remainder = Bytes(50)}};
  plan.num_blocks = Blocks(101);
  plan.bytes_per_block = Bytes(1600);
  plan.block_tokens = Tokens(16);
  plan.max_model_len = Tokens(4096);
  plan.in_flight = Tokens(64);
  plan.decode_in_flight = Tokens(2);
  return plan;
}

// The same with a window of 33 tokens beside it.
PoolPlan WindowedPool() {
  PoolPlan plan = FullHistoryPool();
  CacheGroup window = plan.groups[0];
  window.kind = "sliding_window";
  window.demand.kind = BlockDemand::Kind::kWindow;
  window.demand.reach = Tokens(32);
  window.demand.constant_worst = Blocks(1);
  window.demand.constant_steady = Blocks(1);
  plan.groups.push_back(window);
  return plan;
}

// 160 tokens are 10 blocks: 101 / 10 by the engine's line, 100 usable / 10
// resident, (101 x 1,600 + 50) / 16,000 by bytes.
TEST(CountRequests, FourAnswersOfOneGroup) {
  const Concurrency count =
      CountRequests(FullHistoryPool(), Tokens(160), Tokens(0), 256);
  EXPECT_DOUBLE_EQ(count.engine_line, 10.1);
  EXPECT_EQ(count.resident, 10);
  EXPECT_EQ(count.admitted, 10);
  EXPECT_DOUBLE_EQ(count.ideal, 161650.0 / 16000.0);
}

// 161 tokens take 11 blocks: 9 requests; bytes alone would hold 10.
TEST(CountRequests, BlocksRoundUpButBytesDoNot) {
  const Concurrency count =
      CountRequests(FullHistoryPool(), Tokens(161), Tokens(0), 256);
  EXPECT_EQ(count.resident, 9);
  EXPECT_GT(count.ideal, 10.0);
}

// 320 tokens: 20 + ceil((32 + 64) / 16) + 1 = 27 at worst, 20 + ceil(34 / 16) +
// 1 = 24 in steady decode. 100 / 24 = 4; the gate needs 27 for the last one:
// 3 x 24 + 27 = 99.
TEST(CountRequests, TheGateChargesTheWorstCaseOnce) {
  const Concurrency count =
      CountRequests(WindowedPool(), Tokens(320), Tokens(0), 256);
  EXPECT_EQ(count.worst_blocks, Blocks(27));
  EXPECT_EQ(count.steady_blocks, Blocks(24));
  EXPECT_EQ(count.resident, 4);
  EXPECT_EQ(count.admitted, 4);
  PoolPlan smaller = WindowedPool();
  smaller.num_blocks = Blocks(99);  // 98 usable: 4 x 24 = 96, but 99 > 98
  const Concurrency fewer = CountRequests(smaller, Tokens(320), Tokens(0), 256);
  EXPECT_EQ(fewer.resident, 4);
  EXPECT_EQ(fewer.admitted, 3);
}

// 100 tokens in common are 6 whole blocks, held once: 6 + n x 4 <= 100.
TEST(CountRequests, SharedPrefixIsHeldOnce) {
  const Concurrency count =
      CountRequests(FullHistoryPool(), Tokens(160), Tokens(100), 256);
  EXPECT_EQ(count.shared_blocks, Blocks(6));
  EXPECT_EQ(count.resident, 23);
  EXPECT_DOUBLE_EQ(count.engine_line, 10.1);
}

// A prompt that is all prefix still computes its last token: 9 of 10 blocks
// are shared, 9 + n x 1 <= 100.
TEST(CountRequests, TheLastBlockIsNeverShared) {
  const Concurrency count =
      CountRequests(FullHistoryPool(), Tokens(160), Tokens(160), 256);
  EXPECT_EQ(count.shared_blocks, Blocks(9));
  EXPECT_EQ(count.resident, 91);
}

TEST(CountRequests, SequenceLimitCapsAdmissionAndIsReported) {
  const Concurrency count =
      CountRequests(FullHistoryPool(), Tokens(16), Tokens(0), 8);
  EXPECT_EQ(count.resident, 100);
  EXPECT_EQ(count.admitted, 8);
  EXPECT_TRUE(count.sequence_limit_binds);
}

TEST(CountRequests, NothingFitsIntoAnEmptyPool) {
  PoolPlan plan = FullHistoryPool();
  plan.num_blocks = Blocks(0);
  plan.ranks[0].kv_memory = Bytes(0);
  const Concurrency count = CountRequests(plan, Tokens(1), Tokens(0), 256);
  EXPECT_EQ(count.resident, 0);
  EXPECT_EQ(count.admitted, 0);
  EXPECT_EQ(count.ideal, 0.0);
}

TEST(CountRequests, LengthsBeyondInt32) {
  const Concurrency count =
      CountRequests(FullHistoryPool(), Tokens(1000000000), Tokens(0), 256);
  EXPECT_EQ(count.steady_blocks, Blocks(62500000));
  EXPECT_EQ(count.resident, 0);
}

TEST(RequestCosts, PerTokenAndFixed) {
  const PoolPlan plan = WindowedPool();
  EXPECT_DOUBLE_EQ(PoolBytesPerToken(plan), 100.0);
  // ceil((32 + 2) / 16) + 1.
  EXPECT_EQ(FixedBlocks(plan), Blocks(4));
}

// A pool of 5 state slots beside the blocks, one of them reserved, a request
// taking one: 100 usable blocks / 10 hold 10 requests of 160 tokens, 4 slots
// hold 4. A request's fixed bytes are its slot.
TEST(CountRequests, ThePoolWithTheFewestRequestsDecides) {
  PoolPlan plan = FullHistoryPool();
  CacheGroup states;
  states.kind = "state";
  states.pool = 1;
  states.page = states.used = Bytes(7000);
  states.demand.kind = BlockDemand::Kind::kPerSequence;
  states.demand.constant_worst = states.demand.constant_steady = Blocks(1);
  plan.groups.push_back(states);
  plan.side_pools = {{"state", Blocks(5), Blocks(1), Bytes(7000)}};
  const Concurrency count = CountRequests(plan, Tokens(160), Tokens(0), 256);
  EXPECT_EQ(count.resident, 4);
  EXPECT_EQ(count.admitted, 4);
  EXPECT_DOUBLE_EQ(count.engine_line, 5.0);
  EXPECT_EQ(count.steady_blocks, Blocks(10));  // of the main pool
  EXPECT_EQ(FixedBlocks(plan), Blocks(0));
  EXPECT_EQ(FixedBytes(plan), Bytes(7000));
  EXPECT_DOUBLE_EQ(PoolBytesPerToken(plan), 100.0);
}

}  // namespace
}  // namespace kvsim
