#include "kernels/streaming_copy.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/random.h"
#include "kernels/guarded_buffer.h"

namespace kvsim {
namespace {

constexpr int64_t kTotals[] = {0, StreamingCopy::kStreamingBytes};

void Fill(GuardedBuffer& buffer, RandomStream& random) {
  for (std::byte& byte : buffer.bytes()) {
    byte = static_cast<std::byte>(random.Next());
  }
}

// Five ranges, so that some are copied side by side and some at the end.
void CopyAndCompare(int64_t total, int64_t bytes, int64_t to_offset,
                    int64_t from_offset, RandomStream& random) {
  constexpr int64_t kRanges = 5;
  GuardedBuffer from(bytes * kRanges, from_offset);
  GuardedBuffer to(bytes * kRanges, to_offset);
  Fill(from, random);
  StreamingCopy copy(total);
  for (const int64_t range : {3, 0, 4, 1, 2}) {
    copy.Add(to.data() + range * bytes, from.data() + range * bytes, bytes);
  }
  copy.Finish();
  ASSERT_EQ(std::memcmp(to.data(), from.data(), to.bytes().size()), 0)
      << bytes << " bytes, offsets " << to_offset << " and " << from_offset;
}

TEST(StreamingCopyTest, EverySmallSize) {
  RandomStream random(1, "streaming copy");
  for (const int64_t total : kTotals) {
    for (int64_t bytes = 0; bytes < 1400; ++bytes) {
      CopyAndCompare(total, bytes, bytes % 64, bytes / 7 % 64, random);
    }
  }
}

TEST(StreamingCopyTest, EveryMisalignment) {
  RandomStream random(2, "streaming copy");
  for (int64_t to = 0; to < 64; ++to) {
    for (int64_t from = 0; from < 64; from += 3) {
      CopyAndCompare(StreamingCopy::kStreamingBytes, 700, to, from, random);
    }
  }
}

// Unequal neighbours, short ones among long ones, cuts at pages of memory.
TEST(StreamingCopyTest, MixedRanges) {
  RandomStream random(3, "streaming copy");
  for (int round = 0; round < 200; ++round) {
    constexpr int64_t kSize = 60'000;
    GuardedBuffer from(kSize, random.Between(0, 63));
    GuardedBuffer to(kSize, random.Between(0, 63));
    Fill(from, random);
    std::vector<bool> copied(kSize);
    StreamingCopy copy(StreamingCopy::kStreamingBytes);
    for (int64_t at = 0; at < kSize;) {
      const int64_t gap = random.Between(0, 40);
      int64_t bytes = random.Between(0, random.Chance(0.3) ? 20'000 : 900);
      if (at + gap + bytes > kSize) break;
      copy.Add(to.data() + at + gap, from.data() + at + gap, bytes);
      for (at += gap; bytes > 0; --bytes)
        copied[static_cast<size_t>(at++)] = true;
      if (random.Chance(0.1)) copy.Finish();
    }
    copy.Finish();
    for (int64_t i = 0; i < kSize; ++i) {
      if (copied[static_cast<size_t>(i)]) {
        ASSERT_EQ(to.data()[i], from.data()[i]) << "round " << round;
      } else {
        ASSERT_TRUE(to.Untouched(i, 1)) << "round " << round << ", byte " << i;
      }
    }
  }
}

}  // namespace
}  // namespace kvsim
