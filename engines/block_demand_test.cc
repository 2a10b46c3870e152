#include "engines/block_demand.h"

#include <gtest/gtest.h>

namespace kvsim {
namespace {

BlockDemand FullHistory(int64_t block, int64_t ranks = 1) {
  return {.block_tokens = Tokens(block), .sharded_over = ranks};
}

BlockDemand Window(int64_t block, int64_t window) {
  return {.kind = BlockDemand::Kind::kWindow,
          .block_tokens = Tokens(block),
          .reach = Tokens(window - 1),
          .constant_worst = Blocks(1),
          .constant_steady = Blocks(1)};
}

TEST(BlockDemand, FullHistoryRoundsUpToBlocks) {
  const BlockDemand demand = FullHistory(16);
  EXPECT_EQ(WorstCaseBlocks(demand, Tokens(4096), Tokens(0)), Blocks(256));
  EXPECT_EQ(WorstCaseBlocks(demand, Tokens(4097), Tokens(0)), Blocks(257));
  EXPECT_EQ(WorstCaseBlocks(demand, Tokens(1), Tokens(0)), Blocks(1));
  EXPECT_EQ(WorstCaseBlocks(demand, Tokens(0), Tokens(0)), Blocks(0));
}

// DeepSeek-V3 under DCP 8: 163,840 / 8 = 20,480 tokens a rank, / 64 = 320.
TEST(BlockDemand, ShardedHistoryRoundsPerRank) {
  const BlockDemand demand = FullHistory(64, 8);
  EXPECT_EQ(WorstCaseBlocks(demand, Tokens(163840), Tokens(0)), Blocks(320));
  // One token beyond: ceil(163,841 / 8) = 20,481 tokens need a 321st block.
  EXPECT_EQ(WorstCaseBlocks(demand, Tokens(163841), Tokens(0)), Blocks(321));
}

// gpt-oss: W = 128, two batches of 8,192 in flight, block 16:
// ceil((127 + 16,384) / 16) + 1 = 1,032 + 1.
TEST(BlockDemand, WindowHoldsTokensInFlightAndAStraddledBlock) {
  EXPECT_EQ(WorstCaseBlocks(Window(16, 128), Tokens(131072), Tokens(16384)),
            Blocks(1033));
}

// Gemma-3 in steady decode: ceil((1,023 + 2) / 16) + 1 = 65 + 1.
TEST(BlockDemand, SteadyWindowHoldsOnlyADecodeStep) {
  EXPECT_EQ(SteadyBlocks(Window(16, 1024), Tokens(131072), Tokens(2)),
            Blocks(66));
}

TEST(BlockDemand, ShortRequestNeverHoldsMoreThanItsLength) {
  EXPECT_EQ(SteadyBlocks(Window(16, 1024), Tokens(1), Tokens(2)), Blocks(1));
  EXPECT_EQ(SteadyBlocks(Window(16, 1024), Tokens(33), Tokens(2)), Blocks(3));
}

// Llama-4 chunks of 8,192: ceil((8,192 + 16,384) / 16) = 1,536, no extra block.
TEST(BlockDemand, ChunkHasNoStraddledBlock) {
  BlockDemand demand = {.kind = BlockDemand::Kind::kChunk,
                        .block_tokens = Tokens(16),
                        .reach = Tokens(8192)};
  EXPECT_EQ(WorstCaseBlocks(demand, Tokens(1048576), Tokens(16384)),
            Blocks(1536));
}

TEST(BlockDemand, StateIsConstantInLength) {
  BlockDemand demand = {.kind = BlockDemand::Kind::kPerSequence,
                        .constant_worst = Blocks(2),
                        .constant_steady = Blocks(1)};
  for (int64_t length : {1, 1000, 1000000000}) {
    EXPECT_EQ(WorstCaseBlocks(demand, Tokens(length), Tokens(8192)), Blocks(2));
    EXPECT_EQ(SteadyBlocks(demand, Tokens(length), Tokens(2)), Blocks(1));
  }
}

TEST(BlockDemand, OnlyWholeBlocksOfFullHistoryAreShared) {
  EXPECT_EQ(ShareableBlocks(FullHistory(16), Tokens(100)), Blocks(6));
  // 100 tokens over 4 ranks of 16: one block of 64 tokens.
  EXPECT_EQ(ShareableBlocks(FullHistory(16, 4), Tokens(100)), Blocks(1));
  EXPECT_EQ(ShareableBlocks(Window(16, 128), Tokens(100)), Blocks(0));
}

TEST(BlockDemand, LengthsBeyondInt32DoNotOverflow) {
  const Tokens length(1000000000000);
  EXPECT_EQ(WorstCaseBlocks(FullHistory(16), length, Tokens(0)),
            Blocks(62500000000));
}

}  // namespace
}  // namespace kvsim
