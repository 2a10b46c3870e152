#include "kernels/page_op_traffic.h"

#include <gtest/gtest.h>

#include <vector>

namespace kvsim {
namespace {

constexpr PoolIndex kStatePool = 1;

// Rows of 10 bytes in blocks of 96; states of 50 bytes in blocks of 64.
const std::vector<PoolShape>& Pools() {
  static const auto& pools = *new std::vector<PoolShape>{
      {.name = "full",
       .num_blocks = 4,
       .num_host_blocks = 2,
       .block_tokens = 8,
       .row_bytes = 10,
       .block_bytes = 96},
      {.name = "state",
       .contents = PoolContents::kStates,
       .num_blocks = 3,
       .row_bytes = 50,
       .block_bytes = 64},
  };
  return pools;
}

void ExpectTraffic(const PageOp& op, int64_t items, int64_t read_bytes,
                   int64_t written_bytes) {
  const Traffic traffic = TrafficOf(op, Pools());
  EXPECT_EQ(traffic.ops, 1) << PageOpKindName(KindOf(op));
  EXPECT_EQ(traffic.items, items) << PageOpKindName(KindOf(op));
  EXPECT_EQ(traffic.read, Bytes(read_bytes)) << PageOpKindName(KindOf(op));
  EXPECT_EQ(traffic.written, Bytes(written_bytes))
      << PageOpKindName(KindOf(op));
}

TEST(PageOpTrafficTest, RowsMoveWithoutTheirPadding) {
  ExpectTraffic(WriteTokens{.slots = {0, kNoSlot, 9}}, 2, 0, 20);
  ExpectTraffic(
      GatherSequence{
          .first_position = 3, .end_position = 8, .block_table = {2}},
      5, 50, 0);
  ExpectTraffic(CopyBlock{.source = 0, .target = 1, .rows = 3}, 3, 30, 30);
}

TEST(PageOpTrafficTest, OwnersChangeTableEntries) {
  ExpectTraffic(AssignBlocks{.blocks = {1, 2, 3}}, 3, 0, 12);
  ExpectTraffic(ReleaseBlocks{.blocks = {1, 2}}, 2, 0, 0);
}

TEST(PageOpTrafficTest, BlocksMoveWithTheirPadding) {
  ExpectTraffic(MoveBlocks{.moves = {{0, 1}, {1, 0}}}, 2, 192, 192);
  ExpectTraffic(SwapBlocks{.blocks = {{0, 1}}}, 1, 96, 96);
}

TEST(PageOpTrafficTest, StayingInPlaceMovesNothing) {
  ExpectTraffic(CopyBlock{.source = 2, .target = 2, .rows = 3}, 0, 0, 0);
  ExpectTraffic(MoveBlocks{.moves = {{0, 0}, {1, 2}}}, 1, 96, 96);
}

TEST(PageOpTrafficTest, StatesMoveWhole) {
  ExpectTraffic(UpdateState{.pool = kStatePool, .source = 0}, 1, 50, 50);
  ExpectTraffic(UpdateState{.pool = kStatePool}, 1, 0, 50);
  ExpectTraffic(SaveState{.pool = kStatePool, .checkpoint = 1}, 1, 50, 50);
  ExpectTraffic(RestoreState{.pool = kStatePool, .checkpoint = 1}, 1, 50, 50);
}

TEST(PageOpTrafficTest, OnlyFullBlocksAreHashed) {
  // 5 tokens in blocks of 2: two keys from 4 tokens of 4 bytes.
  ExpectTraffic(HashPrefix{.block_tokens = 2, .token_ids = {1, 2, 3, 4, 5}}, 2,
                16, 16);
}

TEST(PageOpTrafficTest, Adds) {
  Traffic sum = {.ops = 1, .items = 2, .read = Bytes(3), .written = Bytes(4)};
  sum += sum;
  EXPECT_EQ(
      sum,
      (Traffic{.ops = 2, .items = 4, .read = Bytes(6), .written = Bytes(8)}));
}

}  // namespace
}  // namespace kvsim
