#include "kernels/pool_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

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

}  // namespace
}  // namespace kvsim
