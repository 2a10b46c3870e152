#include "kernels/stamp_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "kernels/guarded_buffer.h"

namespace kvsim {
namespace {

using Verdicts = std::vector<BlockVerdict>;
constexpr BlockVerdict kOk = BlockVerdict::kOk;
constexpr BlockVerdict kWrongOwner = BlockVerdict::kWrongOwner;
constexpr BlockVerdict kStale = BlockVerdict::kStaleGeneration;
constexpr BlockVerdict kTorn = BlockVerdict::kTornContents;

// A pool with its tags, layers at any alignment, and what sequences do to it.
class Pool {
 public:
  Pool(int32_t num_layers, int32_t num_blocks, int64_t block_stride,
       int64_t bytes, int64_t misalignment = 0)
      : bytes_(bytes), tags_(static_cast<size_t>(num_blocks)) {
    for (int32_t layer = 0; layer < num_layers; ++layer) {
      memory_.push_back(std::make_unique<GuardedBuffer>(
          num_blocks * block_stride, misalignment));
      layers_.push_back(memory_.back()->data());
    }
    pages_ = {layers_.data(), num_layers, num_blocks, 1, block_stride};
  }

  std::byte* Page(int32_t layer, int64_t block) const {
    return pages_.Page(layer, block);
  }
  std::vector<BlockTag>& tags() { return tags_; }

  void Fill(BlockId block, RandomStream& random) {
    for (int32_t layer = 0; layer < pages_.num_layers; ++layer) {
      for (int64_t i = 0; i < bytes_; ++i) {
        Page(layer, block)[i] = static_cast<std::byte>(random.Below(256));
      }
    }
  }
  void Stamp(const std::vector<BlockId>& blocks, uint64_t owner,
             uint64_t generation) {
    const std::vector<uint64_t> owners(blocks.size(), owner);
    const std::vector<uint64_t> generations(blocks.size(), generation);
    StampBlocksArgs args = {pages_, tags_.data(), blocks.data(), owners.data(),
                            generations.data()};
    args.num_blocks = static_cast<int64_t>(blocks.size());
    args.bytes = bytes_;
    EXPECT_TRUE(StampBlocksOnHost(args).ok());
  }
  Verdicts Verify(const std::vector<BlockId>& blocks, uint64_t owner,
                  uint64_t generation) {
    const std::vector<uint64_t> owners(blocks.size(), owner);
    const std::vector<uint64_t> generations(blocks.size(), generation);
    VerifyBlocksArgs args = {pages_, tags_.data(), blocks.data(), owners.data(),
                             generations.data()};
    args.num_blocks = static_cast<int64_t>(blocks.size());
    args.bytes = bytes_;
    GuardedBuffer verdicts(args.num_blocks);
    args.verdicts = verdicts.as<BlockVerdict>();
    EXPECT_TRUE(VerifyBlocksOnHost(args).ok());
    return {args.verdicts, args.verdicts + args.num_blocks};
  }

 private:
  int64_t bytes_;
  std::vector<BlockTag> tags_;
  std::vector<std::unique_ptr<GuardedBuffer>> memory_;
  std::vector<std::byte*> layers_;
  PagedLayers pages_;
};

// splitmix64's output function on its state `word` advanced index + 1 times.
uint64_t PlainMix(uint64_t word, uint64_t index) {
  uint64_t x = word;
  for (uint64_t i = 0; i < index + 1; ++i) x += 0x9E3779B97F4A7C15;
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9;
  x ^= x >> 27;
  x *= 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// The whole block as one list of words, added up.
uint64_t PlainChecksum(const Pool& pool, int32_t num_layers, BlockId block,
                       int64_t bytes) {
  std::vector<uint64_t> words;
  for (int32_t layer = 0; layer < num_layers; ++layer) {
    for (int64_t i = 0; i < bytes; ++i) {
      if (i % 8 == 0) words.push_back(0);
      words.back() += static_cast<uint64_t>(pool.Page(layer, block)[i])
                      << (8 * (i % 8));
    }
  }
  const auto size = static_cast<uint64_t>(bytes);
  // Index −2 is two steps back from index 0.
  uint64_t sum = PlainMix(size - 2 * 0x9E3779B97F4A7C15, 0);
  for (size_t i = 0; i < words.size(); ++i) sum += PlainMix(words[i], i);
  return sum;
}

TEST(StampBlocksTest, ChecksumIsThatOfOneListOfWords) {
  RandomStream random(1, "checksums");
  for (const int64_t misalignment : {0, 1, 4, 8}) {
    for (const int64_t stride_pad : {0, 3, 8, 16}) {
      for (int64_t bytes = 0; bytes <= 70; ++bytes) {
        Pool pool(3, 3, bytes + stride_pad, bytes, misalignment);
        pool.Fill(2, random);
        pool.Stamp({2}, 7, 9);
        EXPECT_EQ(pool.tags()[2],
                  (BlockTag{7, 9, PlainChecksum(pool, 3, 2, bytes)}))
            << bytes << " bytes of " << bytes + stride_pad << " at "
            << misalignment;
        EXPECT_EQ(pool.tags()[1], BlockTag{});
      }
    }
  }
}

// Pages of several parts of 4096 bytes, with whole and ragged last ones.
TEST(StampBlocksTest, ChecksumOfLargePages) {
  RandomStream random(2, "checksums");
  for (const int64_t bytes : {4088, 4096, 4097, 8192, 12'345}) {
    for (const int64_t misalignment : {0, 2, 8}) {
      Pool pool(2, 2, bytes, bytes, misalignment);
      pool.Fill(1, random);
      pool.Stamp({1}, 1, 1);
      EXPECT_EQ(pool.tags()[1].checksum, PlainChecksum(pool, 2, 1, bytes))
          << bytes << " bytes at " << misalignment;
    }
  }
}

// What a device's lanes add up, in any order.
TEST(StampBlocksTest, PartialSumsAddUp) {
  RandomStream random(3, "checksums");
  const int64_t bytes = 9001;
  std::vector<std::byte> memory(static_cast<size_t>(2 * bytes));
  for (std::byte& byte : memory) {
    byte = static_cast<std::byte>(random.Below(256));
  }
  std::byte* layers[] = {memory.data(), memory.data() + bytes};
  BlockContents contents = {{layers, 2, 1, 1, bytes}, bytes};
  ASSERT_EQ(contents.NumParts(), 6);  // 4096, 4096 and 809 bytes, twice
  uint64_t whole = 0;
  uint64_t by_lane = 0;
  for (int64_t part = 0; part < 6; ++part) {
    whole += contents.SumOfPart(0, part, 0, 1);
  }
  for (int64_t part = 5; part >= 0; --part) {
    for (int lane = 31; lane >= 0; --lane) {
      by_lane += contents.SumOfPart(0, part, lane, 32);
    }
  }
  EXPECT_EQ(by_lane, whole);
}

TEST(StampBlocksTest, FindsADoubleOwner) {
  RandomStream random(4, "owners");
  Pool pool(2, 8, 64, 64);
  pool.Stamp({3, 5}, /*owner=*/1, /*generation=*/1);
  pool.Stamp({5, 6}, /*owner=*/2, /*generation=*/1);
  EXPECT_EQ(pool.Verify({3, 5}, 1, 1), (Verdicts{kOk, kWrongOwner}));
  EXPECT_EQ(pool.Verify({5, 6}, 2, 1), (Verdicts{kOk, kOk}));
}

TEST(StampBlocksTest, FindsAStaleTable) {
  Pool pool(2, 8, 64, 64);
  pool.Stamp({3, 5}, 1, 1);
  pool.Stamp({5}, 1, 2);  // preempted and given out anew to the same sequence
  EXPECT_EQ(pool.Verify({3, 5}, 1, 1), (Verdicts{kOk, kStale}));
}

TEST(StampBlocksTest, NamesTheFirstReason) {
  Pool pool(1, 3, 64, 64);
  pool.Stamp({1}, 1, 1);
  pool.Page(0, 1)[0] ^= std::byte{1};
  EXPECT_EQ(pool.Verify({1}, 2, 2), (Verdicts{kWrongOwner}));
  EXPECT_EQ(pool.Verify({1}, 1, 2), (Verdicts{kStale}));
  EXPECT_EQ(pool.Verify({1}, 1, 1), (Verdicts{kTorn}));
}

TEST(StampBlocksTest, FindsEveryFlippedBit) {
  RandomStream random(5, "bits");
  for (const int64_t bytes : {1, 7, 8, 19, 48, 100}) {
    Pool pool(3, 2, bytes + 5, bytes, bytes % 2);
    pool.Fill(1, random);
    pool.Stamp({1}, 1, 1);
    for (int32_t layer = 0; layer < 3; ++layer) {
      for (int64_t bit = 0; bit < 8 * bytes; ++bit) {
        std::byte& byte = pool.Page(layer, 1)[bit / 8];
        const auto mask = static_cast<std::byte>(1 << (bit % 8));
        byte ^= mask;
        ASSERT_EQ(pool.Verify({1}, 1, 1), (Verdicts{kTorn}))
            << "layer " << layer << " bit " << bit << " of " << bytes;
        byte ^= mask;
      }
      // What lies behind the leading bytes is nobody's business.
      pool.Page(layer, 1)[bytes] ^= std::byte{1};
    }
    EXPECT_EQ(pool.Verify({1}, 1, 1), (Verdicts{kOk}));
  }
}

// A copy that stopped half way: the rest is still another block's.
TEST(StampBlocksTest, FindsATornCopy) {
  RandomStream random(6, "torn");
  Pool pool(2, 4, 96, 96);
  pool.Fill(1, random);
  pool.Fill(2, random);
  for (int64_t copied = 0; copied < 96; ++copied) {
    pool.Stamp({1}, 1, 1);
    pool.tags()[2] = pool.tags()[1];
    std::memcpy(pool.Page(0, 2), pool.Page(0, 1), 96);
    std::memcpy(pool.Page(1, 2), pool.Page(1, 1), static_cast<size_t>(copied));
    ASSERT_EQ(pool.Verify({1, 2}, 1, 1), (Verdicts{kOk, kTorn})) << copied;
    pool.Fill(2, random);
  }
  std::memcpy(pool.Page(0, 2), pool.Page(0, 1), 96);
  std::memcpy(pool.Page(1, 2), pool.Page(1, 1), 96);
  EXPECT_EQ(pool.Verify({2}, 1, 1), (Verdicts{kOk}));
}

TEST(StampBlocksTest, FindsSwappedWords) {
  RandomStream random(7, "words");
  constexpr int64_t kWords = 12;  // of a page, in two layers
  Pool pool(2, 2, kWords * 8, kWords * 8);
  pool.Fill(1, random);
  pool.Stamp({1}, 1, 1);
  const auto word = [&](int64_t i) {
    return pool.Page(static_cast<int32_t>(i / kWords), 1) + i % kWords * 8;
  };
  for (int64_t i = 0; i < 2 * kWords; ++i) {
    for (int64_t j = 0; j < i; ++j) {
      std::swap_ranges(word(i), word(i) + 8, word(j));
      ASSERT_EQ(pool.Verify({1}, 1, 1), (Verdicts{kTorn})) << i << " " << j;
      std::swap_ranges(word(i), word(i) + 8, word(j));
    }
  }
  EXPECT_EQ(pool.Verify({1}, 1, 1), (Verdicts{kOk}));
}

TEST(StampBlocksTest, FindsSwappedPages) {
  RandomStream random(8, "pages");
  Pool pool(2, 4, 64, 64);
  pool.Fill(1, random);
  pool.Fill(2, random);
  pool.Stamp({1, 2}, 1, 1);
  const auto swap = [](std::byte* a, std::byte* b) {
    std::swap_ranges(a, a + 64, b);
  };
  swap(pool.Page(0, 1), pool.Page(1, 1));  // two layers of one block
  EXPECT_EQ(pool.Verify({1, 2}, 1, 1), (Verdicts{kTorn, kOk}));
  swap(pool.Page(0, 1), pool.Page(1, 1));
  swap(pool.Page(1, 1), pool.Page(1, 2));  // two blocks in one layer
  EXPECT_EQ(pool.Verify({1, 2}, 1, 1), (Verdicts{kTorn, kTorn}));
}

// 16 zero bytes, of which the reader looks at fewer.
TEST(StampBlocksTest, LengthIsPartOfTheChecksum) {
  std::vector<std::byte> memory(32, std::byte{0});
  std::byte* layer = memory.data();
  std::vector<BlockTag> tags(2);
  const BlockId block = 1;
  const uint64_t one = 1;
  const PagedLayers pages = {&layer, 1, 2, 1, 16};
  StampBlocksArgs stamp = {pages, tags.data(), &block, &one, &one, 1, 16};
  ASSERT_TRUE(StampBlocksOnHost(stamp).ok());
  for (int64_t bytes = 0; bytes <= 16; ++bytes) {
    BlockVerdict verdict = kOk;
    const VerifyBlocksArgs verify = {pages, tags.data(), &block, &one,
                                     &one,  1,           bytes,  &verdict};
    ASSERT_TRUE(VerifyBlocksOnHost(verify).ok());
    EXPECT_EQ(verdict, bytes == 16 ? kOk : kTorn) << bytes;
  }
}

TEST(StampBlocksTest, NullBlocksArePassedOver) {
  Pool pool(1, 3, 8, 8);
  pool.Stamp({0, 2, 0}, 4, 5);
  EXPECT_EQ(pool.tags()[0], BlockTag{});
  EXPECT_EQ(pool.Verify({0, 2, 1}, 4, 5), (Verdicts{kOk, kOk, kWrongOwner}));
}

TEST(StampBlocksTest, RefusesWhatItCanSee) {
  StampBlocksArgs args;
  args.bytes = 1;
  EXPECT_STREQ(StampBlocksOnHost(args).message,
               "bytes must be in [0, pages.block_stride]");
  args.pages.block_stride = 1;
  args.num_blocks = -1;
  EXPECT_STREQ(StampBlocksOnHost(args).message, "num_blocks is negative");
  args.num_blocks = 0;
  EXPECT_TRUE(StampBlocksOnHost(args).ok());
  VerifyBlocksArgs verify;
  verify.pages.num_layers = -1;
  EXPECT_STREQ(VerifyBlocksOnHost(verify).message,
               "pages.num_layers is negative");
}

}  // namespace
}  // namespace kvsim
