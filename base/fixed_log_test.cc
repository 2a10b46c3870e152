#include "base/fixed_log.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kvsim {
namespace {

double FromQ32(int64_t value) {
  return static_cast<double>(value) / static_cast<double>(kQ32One);
}

TEST(FixedLog2Test, IsExactForPowersOfTwo) {
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(FixedLog2(uint64_t{1} << i), i * kQ32One);
  }
}

TEST(FixedLog2Test, AgreesWithTheLibraryToItsStatedError) {
  // The library's own error, about 1e-15 relative, is far below 2^-32.
  constexpr double kStep = 1.0 / 4294967296.0;
  for (uint64_t value = 1; value < 100'000; ++value) {
    const double error =
        FromQ32(FixedLog2(value)) - std::log2(static_cast<double>(value));
    ASSERT_LE(error, 1e-13) << value;
    ASSERT_GT(error, -kStep - 1e-13) << value;
  }
}

TEST(FixedLog2Test, NeverDecreases) {
  int64_t previous = FixedLog2(1);
  for (uint64_t value = 1; value < (uint64_t{1} << 62);
       value += value / 7 + 1) {
    EXPECT_GE(FixedLog2(value), previous);
    previous = FixedLog2(value);
  }
}

TEST(FixedExp2Test, IsExactForWholeExponents) {
  for (int i = -32; i < 31; ++i) {
    EXPECT_EQ(FixedExp2(i * kQ32One), int64_t{1} << (32 + i)) << i;
  }
}

TEST(FixedExp2Test, AgreesWithTheLibraryToItsStatedError) {
  for (double exponent = -20.0; exponent < 30.9; exponent += 0.0137) {
    const auto q32 = static_cast<int64_t>(exponent * 4294967296.0);
    const double expected = std::exp2(FromQ32(q32)) * 4294967296.0;
    EXPECT_NEAR(static_cast<double>(FixedExp2(q32)), expected,
                0.51 + expected * 0x1p-48)
        << exponent;
  }
}

TEST(FixedExp2Test, SaturatesAndVanishes) {
  EXPECT_EQ(FixedExp2(31 * kQ32One), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(FixedExp2(std::numeric_limits<int64_t>::max()),
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(FixedExp2(-34 * kQ32One), 0);
  EXPECT_EQ(FixedExp2(std::numeric_limits<int64_t>::min()), 0);
}

}  // namespace
}  // namespace kvsim
