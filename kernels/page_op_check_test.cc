#include "kernels/page_op_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kvsim {
namespace {

using ::testing::HasSubstr;

constexpr PoolIndex kRowPool = 0;
constexpr PoolIndex kStatePool = 1;

// Pool 0: 4 device and 2 host blocks of 8 rows. Pool 1: 3 states.
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

void ExpectOk(const PageOp& op) {
  const absl::Status status = CheckPageOp(op, Pools());
  EXPECT_TRUE(status.ok()) << status.ToString();
}

void ExpectRefused(const PageOp& op, absl::StatusCode code,
                   const std::string& message) {
  const absl::Status status = CheckPageOp(op, Pools());
  EXPECT_EQ(status.code(), code);
  EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(PageOpKindName(KindOf(op))));
}

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kOutside = absl::StatusCode::kOutOfRange;

TEST(PageOpCheckTest, DefaultOpsOnWholePoolsAreInside) {
  ExpectOk(WriteTokens{});
  ExpectOk(GatherSequence{});
  ExpectOk(CopyBlock{});
  ExpectOk(MoveBlocks{});
  ExpectOk(SwapBlocks{});
  ExpectOk(UpdateState{.pool = kStatePool});
}

TEST(PageOpCheckTest, OwnedBlocksAreDistinctAndInside) {
  ExpectOk(AssignBlocks{.blocks = {0, 3}});
  ExpectOk(ReleaseBlocks{.pool = kStatePool, .blocks = {2}});
  ExpectRefused(AssignBlocks{.blocks = {4}}, kOutside, "block is 4");
  ExpectRefused(ReleaseBlocks{.blocks = {1, 2, 1}}, kInvalid,
                "block 1 stands twice");
}

TEST(PageOpCheckTest, PoolMustExist) {
  ExpectRefused(WriteTokens{.pool = 2}, kInvalid, "pool is 2");
  ExpectRefused(MoveBlocks{.pool = -1}, kInvalid, "pool is -1");
}

TEST(PageOpCheckTest, RowsAndStatesDoNotMix) {
  ExpectRefused(WriteTokens{.pool = kStatePool}, kInvalid, "holds states");
  ExpectRefused(UpdateState{.pool = kRowPool}, kInvalid, "holds rows");
  // Whole blocks are moved whatever they hold.
  ExpectOk(MoveBlocks{.pool = kStatePool, .moves = {{0, 2}}});
}

TEST(PageOpCheckTest, SlotsLieInThePoolAndAreDistinct) {
  // 4 blocks of 8 rows: slots 0 to 31.
  ExpectOk(WriteTokens{.slots = {0, kNoSlot, 31, kNoSlot}});
  ExpectRefused(WriteTokens{.slots = {0, 32}}, kOutside, "slot is 32");
  ExpectRefused(WriteTokens{.slots = {-2}}, kOutside, "slot is -2");
  ExpectRefused(WriteTokens{.slots = {5, 6, 5}}, kInvalid,
                "slot 5 stands twice");
}

TEST(PageOpCheckTest, StampsComeForAllRowsOrNone) {
  ExpectOk(WriteTokens{.slots = {1, 2}, .stamps = {7, 8}});
  ExpectRefused(WriteTokens{.slots = {1, 2}, .stamps = {7}}, kInvalid,
                "1 stamps for 2 rows");
  ExpectRefused(
      GatherSequence{.end_position = 2, .block_table = {0}, .stamps = {7}},
      kInvalid, "1 stamps for 2 rows");
}

TEST(PageOpCheckTest, GatherReadsOnlyTheTableEntriesOfItsRange) {
  // Positions 8 to 16 live in entries 1 and 2; entry 0 is gone.
  ExpectOk(GatherSequence{
      .first_position = 8, .end_position = 17, .block_table = {99, 3, 0}});
  ExpectRefused(GatherSequence{.end_position = 17, .block_table = {99, 3, 0}},
                kOutside, "block is 99");
  ExpectRefused(GatherSequence{.end_position = 17, .block_table = {1, 3}},
                kOutside, "block table entry is 2");
  ExpectRefused(GatherSequence{.first_position = 2, .end_position = 1},
                kInvalid, "[2, 1)");
  ExpectOk(GatherSequence{.first_position = 100, .end_position = 100});
}

TEST(PageOpCheckTest, CopyStaysInTheBlock) {
  ExpectOk(CopyBlock{.source = 3, .target = 0, .rows = 8});
  ExpectRefused(CopyBlock{.source = 4}, kOutside, "source is 4");
  ExpectRefused(CopyBlock{.target = 99}, kOutside, "target is 99");
  ExpectRefused(CopyBlock{.rows = 9}, kOutside, "rows is 9");
}

TEST(PageOpCheckTest, MovesAreAPartialPermutation) {
  ExpectOk(MoveBlocks{.moves = {{0, 1}, {1, 0}, {2, 2}}});
  ExpectRefused(MoveBlocks{.moves = {{0, 1}, {2, 1}}}, kInvalid,
                "target 1 stands twice");
  ExpectRefused(MoveBlocks{.moves = {{0, 1}, {0, 2}}}, kInvalid,
                "source 0 stands twice");
  ExpectRefused(MoveBlocks{.moves = {{0, 4}}}, kOutside, "target is 4");
}

TEST(PageOpCheckTest, SwapTargetsAreDistinctOnTheirSide) {
  // One device block may go to two host blocks, not two to one.
  ExpectOk(SwapBlocks{.blocks = {{3, 0}, {3, 1}}});
  ExpectRefused(SwapBlocks{.blocks = {{2, 1}, {3, 1}}}, kInvalid,
                "target 1 stands twice");
  ExpectRefused(SwapBlocks{.direction = SwapDirection::kToDevice,
                           .blocks = {{3, 0}, {3, 1}}},
                kInvalid, "target 3 stands twice");
  ExpectRefused(SwapBlocks{.blocks = {{3, 2}}}, kOutside, "host block is 2");
  // The state pool has no host side at all.
  ExpectRefused(SwapBlocks{.pool = kStatePool, .blocks = {{0, 0}}}, kOutside,
                "host block is 0, must be in [0, 0)");
}

TEST(PageOpCheckTest, StatesMoveBetweenTwoBlocks) {
  ExpectOk(SaveState{.pool = kStatePool, .running = 0, .checkpoint = 2});
  ExpectOk(RestoreState{.pool = kStatePool, .checkpoint = 2, .running = 1});
  ExpectRefused(SaveState{.pool = kStatePool, .running = 1, .checkpoint = 1},
                kInvalid, "one block");
  ExpectRefused(RestoreState{.pool = kStatePool, .checkpoint = 3}, kOutside,
                "checkpoint is 3");
  ExpectRefused(UpdateState{.pool = kStatePool, .position = -1}, kInvalid,
                "position is negative");
  ExpectRefused(UpdateState{.pool = kStatePool, .source = 3}, kOutside,
                "source is 3");
  ExpectOk(CopyBlock{.pool = kStatePool, .target = 1, .rows = 1});
}

TEST(PageOpCheckTest, HashingNeedsABlockSize) {
  ExpectOk(HashPrefix{.block_tokens = 16, .token_ids = {1, 2}});
  ExpectRefused(HashPrefix{.block_tokens = 0}, kInvalid, "block_tokens");
}

}  // namespace
}  // namespace kvsim
