#include "kernels/row_encoding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/random.h"

namespace kvsim {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The value of an e4m3 code by its definition: (-1)^s 2^(e-7) (1 + m/8), or
// 2^-6 m/8 for e = 0.
double Fp8Value(int code) {
  const int exponent = (code >> 3) & 15;
  const int mantissa = code & 7;
  const double value = exponent == 0 ? std::ldexp(mantissa, -9)
                                     : std::ldexp(8 + mantissa, exponent - 10);
  return (code & 0x80) != 0 ? -value : value;
}

// The nearest of all 256 codes, the even one of two, in exact arithmetic: the
// distance of a float to a code has fewer than 53 bits where it decides.
uint8_t NearestFp8(float value) {
  if (std::isnan(value)) return 0x7f;
  const int sign = std::signbit(value) ? 0x80 : 0;
  const double wanted = std::min(std::fabs(double{value}), 448.0);
  int best = 0;
  for (int code = 0; code < 0x7f; ++code) {
    const double distance = std::fabs(Fp8Value(code) - wanted);
    const double least = std::fabs(Fp8Value(best) - wanted);
    if (distance < least || (distance == least && code % 2 == 0)) best = code;
  }
  return static_cast<uint8_t>(best | sign);
}

TEST(RowEncodingTest, DecodesEveryFp8Code) {
  for (int code = 0; code < 256; ++code) {
    const float value = DecodeFp8(static_cast<uint8_t>(code));
    if ((code & 0x7f) == 0x7f) {
      EXPECT_TRUE(std::isnan(value)) << code;
      continue;
    }
    EXPECT_EQ(value, Fp8Value(code)) << code;
    EXPECT_EQ(std::signbit(value), code >= 128) << code;
    EXPECT_EQ(EncodeFp8(value), code);
  }
}

// Rounding is monotone, so it is right everywhere when it is right on both sides of
// the middle between any two codes that follow each other.
TEST(RowEncodingTest, RoundsToTheNearestFp8AroundEveryMiddle) {
  for (int code = 0; code < 0x7e; ++code) {
    const auto middle =
        static_cast<float>((Fp8Value(code) + Fp8Value(code + 1)) / 2);
    const int even = code % 2 == 0 ? code : code + 1;
    EXPECT_EQ(EncodeFp8(middle), even) << code;
    EXPECT_EQ(EncodeFp8(std::nextafter(middle, 0.0f)), code);
    EXPECT_EQ(EncodeFp8(std::nextafter(middle, 1000.0f)), code + 1);
    EXPECT_EQ(EncodeFp8(-middle), even | 0x80) << code;
  }
}

TEST(RowEncodingTest, Fp8EqualsTheTableForEveryBf16AndManyFloats) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const float value = DecodeBf16(static_cast<uint16_t>(code));
    ASSERT_EQ(EncodeFp8(value), NearestFp8(value)) << value;
  }
  RandomStream random(1, "fp8");
  for (int i = 0; i < 200'000; ++i) {
    const float value = FloatOfBits(static_cast<uint32_t>(random.Next()));
    ASSERT_EQ(EncodeFp8(value), NearestFp8(value)) << value;
  }
  // Within the range of the codes.
  for (int i = 0; i < 200'000; ++i) {
    const auto exponent = static_cast<uint32_t>(random.Below(22)) + 115;
    const float value = FloatOfBits(
        exponent << 23 | static_cast<uint32_t>(random.Below(1 << 23)));
    ASSERT_EQ(EncodeFp8(value), NearestFp8(value)) << value;
  }
}

TEST(RowEncodingTest, Fp8Saturates) {
  EXPECT_EQ(EncodeFp8(449), 0x7e);
  EXPECT_EQ(EncodeFp8(465), 0x7e);
  EXPECT_EQ(EncodeFp8(kInfinity), 0x7e);
  EXPECT_EQ(EncodeFp8(-kInfinity), 0xfe);
  EXPECT_EQ(EncodeFp8(kNan), 0x7f);
  EXPECT_EQ(EncodeFp8(-kNan), 0x7f);
}

TEST(RowEncodingTest, EveryBf16CodeSurvives) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const float value = DecodeBf16(static_cast<uint16_t>(code));
    if (std::isnan(value)) {
      EXPECT_EQ(EncodeBf16(value), 0x7fff);
    } else {
      ASSERT_EQ(EncodeBf16(value), code);
    }
  }
}

// Between any two bf16 numbers that follow each other, infinity being the last.
TEST(RowEncodingTest, RoundsToTheNearestBf16) {
  for (uint32_t code = 0; code < 0x7f80; ++code) {
    const uint32_t middle = code << 16 | 0x8000;
    ASSERT_EQ(EncodeBf16(FloatOfBits(middle)), code + code % 2);
    ASSERT_EQ(EncodeBf16(FloatOfBits(middle - 1)), code);
    ASSERT_EQ(EncodeBf16(FloatOfBits(middle + 1)), code + 1);
    ASSERT_EQ(EncodeBf16(-FloatOfBits(middle + 1)), code + 1 + 0x8000);
  }
}

TEST(RowEncodingTest, Int8IsTheNearestEvenInteger) {
  for (int quarters = -600; quarters <= 600; ++quarters) {
    const float value = static_cast<float>(quarters) / 4;
    const int nearest = static_cast<int>(std::nearbyint(value));
    const int expected = std::max(-127, std::min(127, nearest));
    const uint8_t code = EncodeInt8(value);
    EXPECT_EQ(static_cast<int8_t>(code), expected) << value;
    EXPECT_EQ(DecodeInt8(code), static_cast<float>(expected));
  }
  EXPECT_EQ(EncodeInt8(kNan), 0);
  EXPECT_EQ(static_cast<int8_t>(EncodeInt8(kInfinity)), 127);
  EXPECT_EQ(static_cast<int8_t>(EncodeInt8(-kInfinity)), -127);
}

TEST(RowEncodingTest, Ue8m0IsTheNextPowerOfTwo) {
  for (int code = 0; code < 255; ++code) {
    const float power = std::ldexp(1.0f, code - 127);
    EXPECT_EQ(DecodeUe8m0(static_cast<uint8_t>(code)), power);
    EXPECT_EQ(EncodeUe8m0(power), code);
    EXPECT_EQ(EncodeUe8m0(std::nextafter(power, 0.0f)), code);
    if (code < 254) {
      EXPECT_EQ(EncodeUe8m0(std::nextafter(power, kInfinity)), code + 1);
    }
  }
  EXPECT_EQ(EncodeUe8m0(0), 0);
  EXPECT_EQ(EncodeUe8m0(kInfinity), 254);
  EXPECT_EQ(EncodeUe8m0(kNan), 255);
  EXPECT_TRUE(std::isnan(DecodeUe8m0(255)));
}

TEST(RowEncodingTest, ScalesByHand) {
  EXPECT_EQ(GroupScale({}, 896), 2);
  EXPECT_EQ(GroupScale({.largest_code = kLargestInt8}, 254), 2);
  EXPECT_EQ(GroupScale({.least_magnitude = 448}, 0), 1);
  EXPECT_EQ(GroupScale({.least_scale = 0.25f}, 1), 0.25f);
  // 1000 / 448 = 2.23
  EXPECT_EQ(GroupScale({.power_of_two = true}, 1000), 4);
  EXPECT_EQ(GroupScale({.power_of_two = true}, 896), 2);
}

TEST(RowEncodingTest, MagnitudesIgnoreNans) {
  EXPECT_EQ(LargerMagnitude(1, -3), 3);
  EXPECT_EQ(LargerMagnitude(1, kNan), 1);
  EXPECT_EQ(LargerMagnitude(1, -kInfinity), kInfinity);
  EXPECT_EQ(LargerMagnitude(2, 0.5f), 2);
}

}  // namespace
}  // namespace kvsim
