// The conversions against those of CUDA's headers, which also run on the host.

#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "kernels/row_encoding.h"

namespace kvsim {
namespace {

// Floats of every sign and exponent, with the mantissa's last bits at their extremes:
// all that matters beside ties, which are among them.
template <typename Check>
void ForManyFloats(Check check) {
  for (uint64_t high = 0; high < uint64_t{1} << 32; high += 1 << 12) {
    for (const uint32_t low : {0u, 1u, 0xfffu}) {
      check(FloatOfBits(static_cast<uint32_t>(high) | low));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// CUDA's host code keeps the sign of a NaN, which its devices drop.
TEST(RowEncodingCudaTest, Fp8) {
  ForManyFloats([](float value) {
    const uint8_t expected =
        std::isnan(value)
            ? 0x7f
            : __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3);
    ASSERT_EQ(EncodeFp8(value), expected) << value;
  });
}

TEST(RowEncodingCudaTest, Bf16) {
  ForManyFloats([](float value) {
    const __nv_bfloat16_raw expected = __float2bfloat16(value);
    ASSERT_EQ(EncodeBf16(value), expected.x) << value;
  });
}

TEST(RowEncodingCudaTest, Ue8m0) {
  ForManyFloats([](float value) {
    if (std::signbit(value)) return;
    ASSERT_EQ(EncodeUe8m0(value),
              __nv_cvt_float_to_e8m0(value, __NV_SATFINITE, cudaRoundPosInf))
        << value;
  });
}

}  // namespace
}  // namespace kvsim
