#include "kernels/copy_blocks.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/random.h"
#include "kernels/block_pairs.h"
#include "kernels/paged_buffer.h"

namespace kvsim {
namespace {

using Contents = std::vector<std::vector<std::byte>>;

// Byte by byte.
Contents NaiveCopy(Contents contents, const std::vector<BlockPair>& pairs,
                   int64_t stride, int64_t bytes) {
  for (std::vector<std::byte>& layer : contents) {
    for (const BlockPair& pair : pairs) {
      for (int64_t i = 0; i < bytes; ++i) {
        layer[static_cast<size_t>(pair.to * stride + i)] =
            layer[static_cast<size_t>(pair.from * stride + i)];
      }
    }
  }
  return contents;
}

// What the warps of a device would copy, one piece after another.
LaunchStatus CopyPieceByPiece(const CopyBlocksArgs& args) {
  for (int64_t i = 0; i < args.NumPieces(); ++i) {
    const ByteRange piece = args.PieceOf(i);
    std::memcpy(piece.to, piece.from, static_cast<size_t>(piece.bytes));
  }
  return LaunchStatus::Ok();
}

void CopyAndCompare(const PagedBuffer::Shape& shape,
                    const std::vector<BlockPair>& pairs, int64_t bytes) {
  for (const auto copy : {CopyBlocksOnHost, CopyPieceByPiece}) {
    RandomStream random(1, "copy blocks");
    PagedBuffer buffer(shape);
    buffer.Fill(random);
    const Contents expected =
        NaiveCopy(buffer.Contents(), pairs, shape.block_stride, bytes);
    const CopyBlocksArgs args = {buffer.pages(), pairs.data(),
                                 static_cast<int64_t>(pairs.size()), bytes};
    ASSERT_TRUE(copy(args).ok());
    ASSERT_EQ(buffer.Contents(), expected)
        << pairs.size() << " pairs, " << bytes << " of " << shape.block_stride;
  }
}

// Every list of up to three pairs over four blocks that the check lets through.
TEST(CopyBlocksTest, AllShortLists) {
  for (size_t length = 0; length <= 3; ++length) {
    for (uint32_t code = 0; code < 1u << (4 * length); ++code) {
      std::vector<BlockPair> pairs;
      for (size_t i = 0; i < length; ++i) {
        pairs.push_back({code >> (4 * i) & 3, code >> (4 * i + 2) & 3});
      }
      if (!CheckCopyPairs(pairs, 4).ok()) continue;
      const PagedBuffer::Shape shape = {
          .num_layers = 2, .num_blocks = 4, .block_stride = 24};
      for (const int64_t bytes : {0, 1, 23, 24}) {
        CopyAndCompare(shape, pairs, bytes);
      }
    }
  }
}

// Disjoint sources and targets in random order, often neighbours; page sizes around
// the pieces and of ragged ends; bases that agree on no word.
TEST(CopyBlocksTest, RandomLists) {
  RandomStream random(2, "copy blocks");
  constexpr int64_t kStrides[] = {1, 17, 512, 4095, 4096, 4100, 9000, 18'432};
  for (int round = 0; round < 200; ++round) {
    const PagedBuffer::Shape shape = {
        .num_layers = static_cast<int32_t>(random.Between(1, 3)),
        .num_blocks = 40,
        .block_stride = kStrides[random.Below(8)],
        .misalignment = random.Chance(0.5) ? 0 : random.Between(0, 63)};
    std::vector<BlockPair> pairs;
    for (BlockId to = 20; to < 40; ++to) {
      if (random.Chance(0.3)) continue;
      const bool neighbour = random.Chance(0.6);
      pairs.push_back(
          {neighbour ? to - 20 : static_cast<BlockId>(random.Below(20)), to});
    }
    const int64_t bytes = random.Chance(0.5)
                              ? shape.block_stride
                              : random.Between(0, shape.block_stride);
    CopyAndCompare(shape, pairs, bytes);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

// 20 MiB: past the caches, where stores bypass them.
TEST(CopyBlocksTest, MoreThanTheCaches) {
  const PagedBuffer::Shape shape = {.num_layers = 2,
                                    .num_blocks = 1300,
                                    .block_stride = 16'500,
                                    .misalignment = 8};
  std::vector<BlockPair> pairs;
  for (BlockId from = 0; from < 650; ++from) {
    pairs.push_back({from, 650 + from * 7 % 650});
  }
  static_assert(650 * int64_t{2} * 16'500 >= int64_t{20} << 20);
  CopyAndCompare(shape, pairs, shape.block_stride);
}

std::string Refusal(const CopyBlocksArgs& args) {
  return CopyBlocksOnHost(args).message;
}

TEST(CopyBlocksTest, RefusesWhatItCanSee) {
  PagedBuffer buffer({.num_blocks = 3, .block_stride = 8});
  const Contents before = buffer.Contents();
  std::vector<BlockPair> pairs = {{0, 1}, {1, 2}};
  CopyBlocksArgs args = {buffer.pages(), pairs.data(), 2, 9};
  EXPECT_EQ(Refusal(args), "bytes must be in [0, pages.block_stride]");
  args.bytes = 8;
  EXPECT_EQ(Refusal(args), "a block is both a source and a target");
  pairs[1].from = 3;
  EXPECT_EQ(Refusal(args), "a source block is outside its pool");
  args.num_pairs = -1;
  EXPECT_EQ(Refusal(args), "num_pairs is negative");
  args.pages.num_layers = -1;
  args.num_pairs = 2;
  EXPECT_EQ(Refusal(args), "pages has a negative shape");
  EXPECT_EQ(buffer.Contents(), before);
}

}  // namespace
}  // namespace kvsim
