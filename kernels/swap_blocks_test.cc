#include "kernels/swap_blocks.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "kernels/block_pairs.h"
#include "kernels/paged_buffer.h"

namespace kvsim {
namespace {

using Contents = std::vector<std::vector<std::byte>>;

// Byte by byte.
Contents NaiveSwap(const Contents& from, Contents to,
                   const std::vector<BlockPair>& pairs, int64_t stride) {
  for (size_t layer = 0; layer < to.size(); ++layer) {
    for (const BlockPair& pair : pairs) {
      for (int64_t i = 0; i < stride; ++i) {
        to[layer][static_cast<size_t>(pair.to * stride + i)] =
            from[layer][static_cast<size_t>(pair.from * stride + i)];
      }
    }
  }
  return to;
}

// What the warps of the kernel would copy, one piece after another.
LaunchStatus SwapPieceByPiece(const SwapBlocksArgs& args) {
  for (int64_t i = 0; i < args.NumPieces(); ++i) {
    const ByteRange piece = args.PieceOf(i);
    std::memcpy(piece.to, piece.from, static_cast<size_t>(piece.bytes));
  }
  return LaunchStatus::Ok();
}

struct Pools {
  PagedBuffer device;
  PagedBuffer host;

  SwapBlocksArgs Args(const std::vector<BlockPair>& pairs,
                      SwapDirection direction) const {
    return {device.pages(), host.pages(), direction, pairs.data(),
            static_cast<int64_t>(pairs.size())};
  }
};

// Pools of 4 and 5 blocks.
Pools SmallPools(int32_t layers, int64_t stride, int64_t misalignment = 0) {
  Pools pools = {
      PagedBuffer({layers, 4, 1, stride, misalignment}),
      PagedBuffer({layers, 5, 1, stride, misalignment / 2}),
  };
  RandomStream random(1, "swap blocks");
  pools.device.Fill(random);
  pools.host.Fill(random);
  return pools;
}

// Every list of up to two pairs that the check lets through, both ways.
TEST(SwapBlocksTest, AllShortLists) {
  for (const auto swap : {SwapBlocksOnHost, SwapPieceByPiece}) {
    for (const auto direction :
         {SwapDirection::kToHost, SwapDirection::kToDevice}) {
      const bool to_host = direction == SwapDirection::kToHost;
      for (uint32_t code = 0; code < 2 * 20 * 20; ++code) {
        std::vector<BlockPair> pairs;
        for (uint32_t i = 0, rest = code / 2; i <= code % 2; ++i, rest /= 20) {
          const BlockPair pair = {rest % 4, rest / 4 % 5};
          pairs.push_back(to_host ? pair : BlockPair{pair.to, pair.from});
        }
        Pools pools = SmallPools(2, 24);
        const SwapBlocksArgs args = pools.Args(pairs, direction);
        if (!CheckSwapBlocks(args).ok()) continue;
        PagedBuffer& from = to_host ? pools.device : pools.host;
        PagedBuffer& to = to_host ? pools.host : pools.device;
        const Contents source = from.Contents();
        const Contents expected = NaiveSwap(source, to.Contents(), pairs, 24);
        ASSERT_TRUE(swap(args).ok());
        ASSERT_EQ(to.Contents(), expected) << code;
        ASSERT_EQ(from.Contents(), source) << code;
      }
    }
  }
}

std::vector<BlockPair> Reversed(std::vector<BlockPair> pairs) {
  for (BlockPair& pair : pairs) pair = {pair.to, pair.from};
  return pairs;
}

TEST(SwapBlocksTest, ContentsSurviveARoundTrip) {
  RandomStream random(2, "swap blocks");
  constexpr int64_t kStrides[] = {1, 100, 4096, 4097, 18'432};
  for (int round = 0; round < 50; ++round) {
    const int64_t stride = kStrides[random.Below(5)];
    Pools pools = {PagedBuffer({2, 30, 1, stride, random.Between(0, 63)}),
                   PagedBuffer({2, 40, 1, stride, random.Between(0, 63)})};
    pools.device.Fill(random);
    const Contents before = pools.device.Contents();
    std::vector<BlockId> places(40);
    for (BlockId i = 0; i < 40; ++i) places[i] = i;
    if (random.Chance(0.7)) random.Shuffle(std::span<BlockId>(places));
    std::vector<BlockPair> pairs;
    for (BlockId block = 0; block < 30; ++block) {
      pairs.push_back({block, places[block]});
    }
    ASSERT_TRUE(
        SwapBlocksOnHost(pools.Args(pairs, SwapDirection::kToHost)).ok());
    pools.device.Fill(random);
    pairs = Reversed(pairs);
    ASSERT_TRUE(
        SwapBlocksOnHost(pools.Args(pairs, SwapDirection::kToDevice)).ok());
    ASSERT_EQ(pools.device.Contents(), before) << "round " << round;
  }
}

TEST(SwapBlocksTest, MergesNeighbours) {
  Pools pools = SmallPools(2, 8);
  const std::vector<BlockPair> pairs = {{1, 2}, {2, 3}, {0, 1}};
  std::vector<int64_t> sizes;
  EXPECT_TRUE(ForEachSwapRange(pools.Args(pairs, SwapDirection::kToHost),
                               [&](const ByteRange& range) {
                                 sizes.push_back(range.bytes);
                                 return true;
                               }));
  EXPECT_EQ(sizes, (std::vector<int64_t>{16, 8, 16, 8}));
}

// Two pages in one run and one alone: a range is 1.5 pages on average.
TEST(SwapBlocksTest, LargeRangesUseTheCopyEngine) {
  const std::vector<BlockPair> pairs = {{1, 2}, {2, 3}, {0, 1}};
  const Pools pools = SmallPools(2, 8);
  SwapBlocksArgs args = pools.Args(pairs, SwapDirection::kToHost);
  // Only sizes are asked for: the pages need not be that large.
  args.device.block_stride = (2 * kCopyEngineBytes + 2) / 3;
  EXPECT_TRUE(UsesCopyEngine(args));
  args.device.block_stride -= 1;
  EXPECT_FALSE(UsesCopyEngine(args));
  args.method = SwapMethod::kCopyEngine;
  EXPECT_TRUE(UsesCopyEngine(args));
  args.method = SwapMethod::kKernel;
  args.device.block_stride = 100 * kCopyEngineBytes;
  EXPECT_FALSE(UsesCopyEngine(args));
}

TEST(SwapBlocksTest, RefusesAllOrNothing) {
  Pools pools = SmallPools(1, 8);
  const Contents device = pools.device.Contents();
  const Contents host = pools.host.Contents();
  const auto refusal = [&](std::vector<BlockPair> pairs,
                           SwapDirection direction) {
    return std::string(SwapBlocksOnHost(pools.Args(pairs, direction)).message);
  };
  EXPECT_EQ(refusal({{0, 0}, {4, 1}}, SwapDirection::kToHost),
            "a source block is outside its pool");
  EXPECT_EQ(refusal({{0, 0}, {1, 5}}, SwapDirection::kToHost),
            "a target block is outside its pool");
  EXPECT_EQ(refusal({{0, 0}, {1, 4}}, SwapDirection::kToDevice),
            "a target block is outside its pool");
  EXPECT_EQ(refusal({{0, 0}, {1, 0}}, SwapDirection::kToHost),
            "a block is the target of two pairs");
  SwapBlocksArgs args = pools.Args({}, SwapDirection::kToHost);
  args.num_pairs = -1;
  EXPECT_STREQ(SwapBlocksOnHost(args).message, "num_pairs is negative");
  args.num_pairs = 0;
  args.host.block_stride = 9;
  EXPECT_STREQ(SwapBlocksOnHost(args).message,
               "device and host differ in num_layers or block_stride");
  args.device.block_stride = -1;
  EXPECT_STREQ(SwapBlocksOnHost(args).message, "device has a negative shape");
  EXPECT_EQ(pools.device.Contents(), device);
  EXPECT_EQ(pools.host.Contents(), host);
}

}  // namespace
}  // namespace kvsim
