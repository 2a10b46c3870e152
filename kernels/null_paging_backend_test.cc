#include "kernels/null_paging_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kvsim {
namespace {

using ::testing::StartsWith;

std::vector<PoolShape> OnePool() {
  return {{.name = "full",
           .num_blocks = 4,
           .block_tokens = 8,
           .row_bytes = 10,
           .block_bytes = 96}};
}

const Traffic& TotalOf(const PagingBackend& backend, PageOpKind kind) {
  return backend.Totals()[static_cast<size_t>(kind)];
}

TEST(NullPagingBackendTest, StartsAtZero) {
  const NullPagingBackend backend(OnePool());
  EXPECT_STREQ(backend.name(), "null");
  EXPECT_EQ(backend.pools().size(), 1);
  for (const Traffic& traffic : backend.Totals()) {
    EXPECT_EQ(traffic, Traffic{});
  }
}

TEST(NullPagingBackendTest, CountsByKind) {
  NullPagingBackend backend(OnePool());
  const std::vector<PageOp> ops = {
      WriteTokens{.slots = {0, 1, 2}},
      WriteTokens{.slots = {3}},
      CopyBlock{.source = 0, .target = 1, .rows = 4},
  };
  ASSERT_TRUE(backend.Execute(ops).ok());
  const Traffic& writes = TotalOf(backend, PageOpKind::kWriteTokens);
  EXPECT_EQ(writes.ops, 2);
  EXPECT_EQ(writes.items, 4);
  EXPECT_EQ(writes.written, Bytes(40));
  EXPECT_EQ(TotalOf(backend, PageOpKind::kCopyBlock).read, Bytes(40));
  EXPECT_EQ(TotalOf(backend, PageOpKind::kMoveBlocks), Traffic{});
}

TEST(NullPagingBackendTest, OneSpanEqualsManyCalls) {
  const std::vector<PageOp> ops = {WriteTokens{.slots = {0}},
                                   MoveBlocks{.moves = {{0, 3}}},
                                   WriteTokens{.slots = {5, 6}}};
  NullPagingBackend at_once(OnePool());
  ASSERT_TRUE(at_once.Execute(ops).ok());
  NullPagingBackend one_by_one(OnePool());
  for (const PageOp& op : ops) {
    ASSERT_TRUE(one_by_one.Execute(std::span(&op, 1)).ok());
  }
  EXPECT_EQ(at_once.Totals(), one_by_one.Totals());
}

TEST(NullPagingBackendTest, StopsAtTheFirstBadOp) {
  NullPagingBackend backend(OnePool());
  const std::vector<PageOp> ops = {WriteTokens{.slots = {0}},
                                   WriteTokens{.slots = {32}},
                                   WriteTokens{.slots = {1}}};
  const absl::Status status = backend.Execute(ops);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(status.message()), StartsWith("op 1: write_tokens"));
  EXPECT_EQ(TotalOf(backend, PageOpKind::kWriteTokens).ops, 1);
}

TEST(NullPagingBackendDeathTest, RefusesMalformedPools) {
  EXPECT_DEATH(NullPagingBackend({{.name = "full", .num_blocks = -1}}),
               "num_blocks is -1");
}

}  // namespace
}  // namespace kvsim
