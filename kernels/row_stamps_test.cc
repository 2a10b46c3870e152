#include "kernels/row_stamps.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "kernels/guarded_buffer.h"

namespace kvsim {
namespace {

unsigned long long FirstFault(const std::byte* rows, int64_t row_bytes,
                              const std::vector<uint64_t>& stamps) {
  unsigned long long fault = stamps.size();
  EXPECT_TRUE(CheckRowsOnHost({rows, row_bytes, stamps.data(),
                               static_cast<int64_t>(stamps.size()), &fault})
                  .ok());
  return fault;
}

// Rows of every size to 40 B at every alignment; every bit of every row changed.
TEST(RowStampsTest, EveryChangedBitIsSeenInItsRow) {
  const std::vector<uint64_t> stamps = {7, 0, ~uint64_t{0}};
  for (int64_t row_bytes = 1; row_bytes <= 40; ++row_bytes) {
    for (const int64_t shift : {0, 1, 4, 8}) {
      GuardedBuffer rows(3 * row_bytes, shift);
      ASSERT_TRUE(
          FillRowsOnHost({rows.data(), row_bytes, stamps.data(), 3}).ok());
      ASSERT_EQ(FirstFault(rows.data(), row_bytes, stamps), 3u);
      for (int64_t bit = 0; bit < 8 * 3 * row_bytes; ++bit) {
        rows.data()[bit / 8] ^= std::byte{1} << (bit % 8);
        ASSERT_EQ(FirstFault(rows.data(), row_bytes, stamps),
                  static_cast<uint64_t>(bit / 8 / row_bytes));
        rows.data()[bit / 8] ^= std::byte{1} << (bit % 8);
      }
    }
  }
}

TEST(RowStampsTest, ARowStartsWithItsStamp) {
  const uint64_t stamp = 0x0123456789abcdef;
  uint64_t row[3];
  ASSERT_TRUE(
      FillRowsOnHost({reinterpret_cast<std::byte*>(row), 24, &stamp, 1}).ok());
  EXPECT_EQ(row[0], stamp);
  EXPECT_EQ(row[1], StampedRow{stamp}.Word(1));
}

TEST(RowStampsTest, WordsOfRowsDiffer) {
  std::set<uint64_t> words;
  for (uint64_t stamp = 0; stamp < 100; ++stamp) {
    for (int64_t i = 0; i < 100; ++i) words.insert(StampedRow{stamp}.Word(i));
  }
  EXPECT_EQ(words.size(), 10'000);
}

TEST(RowStampsTest, RefusesWhatItCanSee) {
  EXPECT_STREQ(FillRowsOnHost({}).message, "row_bytes must be positive");
  EXPECT_STREQ(CheckRowsOnHost({.row_bytes = 1, .num_rows = -1}).message,
               "num_rows is negative");
}

}  // namespace
}  // namespace kvsim
