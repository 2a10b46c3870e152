#include "kernels/pool_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace kvsim {
namespace {

using ::testing::HasSubstr;

PoolShape Rows() {
  return {.name = "full",
          .num_blocks = 8,
          .block_tokens = 16,
          .row_bytes = 100,
          .block_bytes = 1600};
}

std::string ErrorOf(const PoolShape& shape) {
  const absl::Status status = ValidatePoolShape(shape);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("pool \"full\""));
  return std::string(status.message());
}

TEST(PoolShapeTest, RowsMayFillTheirBlockOrLeavePadding) {
  PoolShape shape = Rows();
  EXPECT_TRUE(ValidatePoolShape(shape).ok());
  shape.block_bytes = 2048;
  EXPECT_TRUE(ValidatePoolShape(shape).ok());
}

TEST(PoolShapeTest, RowsMustFitTheirBlock) {
  PoolShape shape = Rows();
  shape.block_bytes = 1599;
  EXPECT_THAT(ErrorOf(shape), HasSubstr("block_bytes is 1599"));
  // 16 rows of 2^60 bytes do not fit 64 bits.
  shape.row_bytes = int64_t{1} << 60;
  shape.block_bytes = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(ErrorOf(shape), HasSubstr("block_bytes"));
}

TEST(PoolShapeTest, NamesTheWrongField) {
  PoolShape shape = Rows();
  shape.num_blocks = -1;
  EXPECT_THAT(ErrorOf(shape), HasSubstr("num_blocks is -1"));
  shape = Rows();
  shape.num_host_blocks = -2;
  EXPECT_THAT(ErrorOf(shape), HasSubstr("num_host_blocks is -2"));
  shape = Rows();
  shape.block_tokens = 0;
  EXPECT_THAT(ErrorOf(shape), HasSubstr("block_tokens is 0"));
  shape = Rows();
  shape.row_bytes = 0;
  EXPECT_THAT(ErrorOf(shape), HasSubstr("row_bytes is 0"));
}

TEST(PoolShapeTest, StatesStandOnePerBlock) {
  PoolShape shape = Rows();
  shape.contents = PoolContents::kStates;
  EXPECT_THAT(ErrorOf(shape), HasSubstr("1 in a pool of states"));
  shape.block_tokens = 1;
  EXPECT_TRUE(ValidatePoolShape(shape).ok());
}

// One arena of 100 + 20 blocks of 16 rows of 1,000 B and a state beside them.
std::vector<PoolShape> OneArena() {
  return {{.name = "full",
           .num_blocks = 100,
           .num_host_blocks = 20,
           .block_tokens = 16,
           .row_bytes = 1000,
           .block_bytes = 16'384},
          {.name = "state",
           .contents = PoolContents::kStates,
           .num_blocks = 100,
           .num_host_blocks = 20,
           .row_bytes = 16'000,
           .block_bytes = 16'384}};
}

TEST(PoolShapeTest, PoolsOfOneArenaHaveEqualBlocks) {
  std::vector<PoolShape> pools = OneArena();
  EXPECT_TRUE(ValidatePoolShapes(pools).ok());
  EXPECT_EQ(MemoryOf(pools), Bytes(120 * 16'384));
  pools[1].num_blocks = 99;
  EXPECT_THAT(std::string(ValidatePoolShapes(pools).message()),
              HasSubstr("\"full\" and \"state\" share memory"));
  pools[1].arena = 1;
  EXPECT_TRUE(ValidatePoolShapes(pools).ok());
  EXPECT_EQ(MemoryOf(pools), Bytes((120 + 119) * 16'384));
}

// 120 blocks in 123,456 B: 1,028 B a block, in 8-byte words 1,024; 64 a row.
TEST(PoolShapeTest, ScalesRowsDownToFit) {
  std::vector<PoolShape> pools = OneArena();
  ASSERT_TRUE(ScalePools(Bytes(123'456), &pools).ok());
  EXPECT_TRUE(ValidatePoolShapes(pools).ok());
  EXPECT_EQ(pools[0].block_bytes, 1024);
  EXPECT_EQ(pools[0].row_bytes, 64);
  EXPECT_EQ(pools[1].row_bytes, 1024);
  EXPECT_LE(MemoryOf(pools), Bytes(123'456));
  const std::vector<PoolShape> scaled = pools;
  ASSERT_TRUE(ScalePools(Bytes(1'000'000'000), &pools).ok());
  EXPECT_EQ(pools, scaled);
}

TEST(PoolShapeTest, SaysWhatTheSmallestRowsTake) {
  std::vector<PoolShape> pools = OneArena();
  // 16 rows of 8 B in 120 blocks: 15,360 B.
  EXPECT_TRUE(ScalePools(Bytes(15'360), &pools).ok());
  pools = OneArena();
  EXPECT_THAT(std::string(ScalePools(Bytes(15'359), &pools).message()),
              HasSubstr("120 blocks take 15360 B"));
}

}  // namespace
}  // namespace kvsim
