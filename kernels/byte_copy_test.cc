#include "kernels/byte_copy.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace kvsim {
namespace {

// Addresses are only computed with, never followed.
ByteRange Range(uintptr_t to, uintptr_t from, int64_t bytes) {
  return {reinterpret_cast<std::byte*>(0x10000 + to),
          reinterpret_cast<const std::byte*>(0x20000 + from), bytes};
}

TEST(ByteCopyTest, SplitsIntoTheWidestWordsBothAgreeOn) {
  for (uintptr_t to = 0; to < 32; ++to) {
    for (uintptr_t from = 0; from < 32; ++from) {
      int32_t widest = 16;
      while (to % widest != from % widest) widest /= 2;
      for (int64_t bytes = 0; bytes < 100; ++bytes) {
        const RangeSplit split = SplitRange(Range(to, from, bytes));
        ASSERT_EQ(split.width, widest);
        ASSERT_EQ(split.head + split.words * split.width + split.tail, bytes);
        ASSERT_LT(split.head, split.width);
        ASSERT_LT(split.tail, split.width);
        if (split.words == 0) continue;
        ASSERT_EQ((to + split.head) % widest, 0);
        ASSERT_EQ((from + split.head) % widest, 0);
      }
    }
  }
}

TEST(ByteCopyTest, PiecesFollowOneAnother) {
  for (const int64_t bytes : {0, 1, 4095, 4096, 4097, 8192, 20001}) {
    const ByteRange range = Range(3, 5, bytes);
    int64_t done = 0;
    for (int64_t i = 0; i < CopyPieces(bytes); ++i) {
      const ByteRange piece = range.Piece(i);
      EXPECT_EQ(piece.to, range.to + done);
      EXPECT_EQ(piece.from, range.from + done);
      EXPECT_GT(piece.bytes, 0);
      EXPECT_LE(piece.bytes, kCopyPiece);
      done += piece.bytes;
    }
    EXPECT_EQ(done, bytes);
  }
}

}  // namespace
}  // namespace kvsim
