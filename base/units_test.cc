#include "base/units.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <type_traits>

#include "absl/container/flat_hash_map.h"

namespace kvsim {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TEST(UnitsTest, DoNotMixAndDoNotConvert) {
  static_assert(!std::is_convertible_v<int64_t, Tokens>);
  static_assert(!std::is_convertible_v<Tokens, int64_t>);
  static_assert(!std::is_constructible_v<Tokens, Blocks>);
  static_assert(sizeof(Bytes) == 8);
  static_assert(std::is_trivially_copyable_v<Bytes>);
}

TEST(UnitsTest, EqualUnitsAddAndCompare) {
  Tokens tokens(10);
  tokens += Tokens(6);
  tokens -= Tokens(1);
  EXPECT_EQ(tokens, Tokens(15));
  EXPECT_LT(tokens, Tokens(16));
  EXPECT_EQ(++tokens, Tokens(16));
  EXPECT_EQ(Tokens(), Tokens(0));
}

TEST(UnitsTest, CountScalesAndRatioIsACount) {
  EXPECT_EQ(Bytes(1152) * 61, Bytes(70272));
  EXPECT_EQ(61 * Bytes(1152), Bytes(70272));
  EXPECT_EQ(Bytes(70272) / 61, Bytes(1152));
  static_assert(std::is_same_v<decltype(Tokens(17) / Tokens(16)), int64_t>);
  EXPECT_EQ(Tokens(17) / Tokens(16), 1);
  EXPECT_EQ(Tokens(17) % Tokens(16), Tokens(1));
}

TEST(UnitsTest, RoundingAgreesWithDefinitionForSmallNumbers) {
  for (int64_t value = 0; value <= 70; ++value) {
    for (int64_t step = 1; step <= 17; ++step) {
      const int64_t up = RoundUp(value, step);
      const int64_t down = RoundDown(value, step);
      EXPECT_EQ(up % step, 0);
      EXPECT_EQ(down % step, 0);
      EXPECT_TRUE(up >= value && up - step < value);
      EXPECT_TRUE(down <= value && down + step > value);
      EXPECT_EQ(CeilDiv(value, step) * step, up);
    }
  }
}

TEST(UnitsTest, RoundingKeepsTheUnit) {
  EXPECT_EQ(CeilDiv(Tokens(33), Tokens(16)), 3);
  EXPECT_EQ(RoundUp(Tokens(33), Tokens(16)), Tokens(48));
  EXPECT_EQ(RoundDown(Tokens(33), Tokens(16)), Tokens(32));
}

TEST(UnitsTest, CeilDivReachesTheLargestCount) {
  // (dividend + divisor - 1) would overflow here.
  EXPECT_EQ(CeilDiv(kMax, kMax), 1);
  EXPECT_EQ(CeilDiv(kMax, 2), kMax / 2 + 1);  // kMax is odd.
}

TEST(UnitsDeathTest, OverflowAborts) {
  EXPECT_DEATH(Bytes(kMax) + Bytes(1), "check failed");
  EXPECT_DEATH(Bytes(kMin) - Bytes(1), "check failed");
  EXPECT_DEATH(Bytes(kMax / 2 + 1) * 2, "check failed");
  EXPECT_DEATH(RoundUp(kMax, 2), "check failed");
}

TEST(UnitsDeathTest, RoundingRefusesNegativesAndZeroSteps) {
  EXPECT_DEATH(CeilDiv(-1, 16), "check failed");
  EXPECT_DEATH(CeilDiv(1, 0), "check failed");
  EXPECT_DEATH(Tokens(1) / Tokens(0), "check failed");
}

TEST(UnitsTest, BinaryPrefixesArePowersOf1024) {
  EXPECT_EQ(KiB(1).value(), int64_t{1} << 10);
  EXPECT_EQ(MiB(1).value(), int64_t{1} << 20);
  EXPECT_EQ(GiB(1).value(), int64_t{1} << 30);
}

TEST(UnitsTest, SecondsRoundToTheNearestNanosecond) {
  EXPECT_EQ(FromSeconds(0.0), SimTime(0));
  EXPECT_EQ(FromSeconds(1.5), Milliseconds(1500));
  // 1e-10 s is a tenth of a nanosecond, 6e-10 s more than half of one.
  EXPECT_EQ(FromSeconds(1e-10), SimTime(0));
  EXPECT_EQ(FromSeconds(6e-10), SimTime(1));
  EXPECT_DOUBLE_EQ(ToSeconds(Microseconds(2500)), 0.0025);
}

TEST(UnitsTest, PrintsValueAndUnit) {
  std::ostringstream out;
  out << Tokens(12) << ", " << SimTime(3);
  EXPECT_EQ(out.str(), "12 tokens, 3 ns");
}

TEST(UnitsTest, IsAHashKey) {
  absl::flat_hash_map<Tokens, int> map;
  map[Tokens(3)] = 7;
  EXPECT_EQ(map.at(Tokens(3)), 7);
}

}  // namespace
}  // namespace kvsim
