#include "kernels/xxh3.h"

#include <gtest/gtest.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/random.h"

namespace kvsim::xxh3 {
namespace {

// Bytes that note the first place that was read, and refuse to be read outside.
class Message {
 public:
  Message(const std::vector<uint8_t>& bytes, int64_t length)
      : bytes_(bytes.data()), length_(length), first_read_(length) {}

  uint64_t Word(int64_t offset) const {
    EXPECT_TRUE(offset >= 0 && offset + 8 <= length_) << offset;
    EXPECT_TRUE(length_ % 4 != 0 || offset % 4 == 0) << offset;
    first_read_ = std::min(first_read_, offset);
    uint64_t word = 0;
    std::memcpy(&word, bytes_ + offset, sizeof(word));
    return word;
  }
  int64_t first_read() const { return first_read_; }

 private:
  const uint8_t* bytes_;
  int64_t length_;
  mutable int64_t first_read_;
};

std::vector<uint8_t> RandomBytes(RandomStream& random, size_t count) {
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.Below(256));
  return bytes;
}

void ExpectEqualsLibrary(const std::vector<uint8_t>& bytes, int64_t length) {
  const Message message(bytes, length);
  const auto size = static_cast<size_t>(length);
  const Rest64 rest = RestOf64(message, length);
  ASSERT_GE(message.first_read(), RestBegin64(length)) << length;
  ASSERT_EQ(Finish64(rest, message, length), XXH3_64bits(bytes.data(), size))
      << length << " bytes";
  if (length < 17) return;
  const Message again(bytes, length);
  const Rest128 rest128 = RestOf128(again, length);
  ASSERT_GE(again.first_read(), RestBegin128(length)) << length;
  const XXH128_hash_t expected = XXH3_128bits(bytes.data(), size);
  ASSERT_EQ(Finish128(rest128, again, length),
            (Hash128{expected.low64, expected.high64}))
      << length << " bytes";
}

TEST(Xxh3Test, EqualsLibraryAtEveryLength) {
  RandomStream random(1, "XXH3");
  for (int round = 0; round < 4; ++round) {
    const std::vector<uint8_t> bytes = RandomBytes(random, 4096);
    for (int64_t length = 9; length <= 4096; ++length) {
      ExpectEqualsLibrary(bytes, length);
      ASSERT_FALSE(testing::Test::HasFatalFailure());
    }
  }
}

// Short paths are where a wrong constant would show in few contents only.
TEST(Xxh3Test, EqualsLibraryForManyContents) {
  RandomStream random(2, "XXH3");
  for (int round = 0; round < 200; ++round) {
    const std::vector<uint8_t> bytes = RandomBytes(random, 300);
    for (int64_t length = 9; length <= 300; ++length) {
      ExpectEqualsLibrary(bytes, length);
      ASSERT_FALSE(testing::Test::HasFatalFailure());
    }
  }
}

TEST(Xxh3Test, EqualsLibraryForZeroesAndOnes) {
  for (const uint8_t value : {uint8_t{0}, uint8_t{255}}) {
    const std::vector<uint8_t> bytes(2100, value);
    for (int64_t length = 9; length <= 2100; ++length) {
      ExpectEqualsLibrary(bytes, length);
      ASSERT_FALSE(testing::Test::HasFatalFailure());
    }
  }
}

}  // namespace
}  // namespace kvsim::xxh3
