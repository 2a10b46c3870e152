// Numbers as pages store them: bf16, fp8 (e4m3), int8, and scales.
//
// Model:   bf16 and fp8 round to nearest, ties to even. fp8 has 448 as its largest
//          value; what is larger, infinities too, becomes ±448. A NaN stays one: its
//          code is always 0x7f (0x7fff in bf16), because the sign of a NaN that a
//          division makes differs between processors.
//          A group of elements that shares a scale stores x / scale, where scale is
//          the group's largest magnitude over the largest code (448 or 127), not
//          below a floor; ue8m0 scales are powers of two, rounded up, and one byte:
//          2^(code - 127).
// Costs:   a dozen integer operations each; no table, no library.
// Source:  cuda_fp8.h of CUDA 13.0 for the codes; the floors are those of vLLM's
//          cache_kernels.cu (fp8_ds_mla, indexer key) and
//          triton_reshape_and_cache_flash.py (per token and head).
#ifndef KVSIM_KERNELS_ROW_ENCODING_H_
#define KVSIM_KERNELS_ROW_ENCODING_H_

#include <cstdint>

#include "kernels/host_device.h"

namespace kvsim {

inline constexpr float kLargestFp8 = 448.0f;
inline constexpr float kLargestInt8 = 127.0f;

KVSIM_HOST_DEVICE inline uint32_t BitsOfFloat(float value) {
  return __builtin_bit_cast(uint32_t, value);
}
KVSIM_HOST_DEVICE inline float FloatOfBits(uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}

KVSIM_HOST_DEVICE inline bool IsNan(uint32_t bits) {
  return (bits & 0x7fffffffu) > 0x7f800000u;
}

// --- bf16 ----------------------------------------------------------------------

KVSIM_HOST_DEVICE inline float DecodeBf16(uint16_t code) {
  return FloatOfBits(uint32_t{code} << 16);
}

KVSIM_HOST_DEVICE inline uint16_t EncodeBf16(float value) {
  const uint32_t bits = BitsOfFloat(value);
  if (IsNan(bits)) return 0x7fff;
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// --- fp8 e4m3 ------------------------------------------------------------------

KVSIM_HOST_DEVICE inline float DecodeFp8(uint8_t code) {
  const uint32_t magnitude = code & 0x7fu;
  const uint32_t sign = (code & 0x80u) << 24;
  if (magnitude == 0x7f) return FloatOfBits(0x7fffffffu);
  if (magnitude < 8) {  // multiples of 2^-9
    const float value = static_cast<float>(magnitude) * 0x1p-9f;
    return FloatOfBits(sign | BitsOfFloat(value));
  }
  // The exponent's bias is 7 here and 127 there.
  return FloatOfBits(sign | ((magnitude + ((127 - 7) << 3)) << 20));
}

KVSIM_HOST_DEVICE inline uint8_t EncodeFp8(float value) {
  const uint32_t bits = BitsOfFloat(value);
  if (IsNan(bits)) return 0x7f;
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t code;
  if (magnitude >= BitsOfFloat(kLargestFp8)) {
    code = 0x7e;
  } else if (magnitude >= BitsOfFloat(0x1p-6f)) {
    code = ((magnitude + 0x7ffff + ((magnitude >> 20) & 1)) >> 20) -
           ((127 - 7) << 3);
  } else {
    // Floats near 2^14 are 2^-9 apart, as the smallest codes are: the sum rounds.
    code = BitsOfFloat(FloatOfBits(magnitude) + 0x1p14f) - BitsOfFloat(0x1p14f);
  }
  return static_cast<uint8_t>(code | ((bits >> 24) & 0x80u));
}

// --- int8 ----------------------------------------------------------------------

KVSIM_HOST_DEVICE inline float DecodeInt8(uint8_t code) {
  return static_cast<float>(static_cast<int8_t>(code));
}

// To the nearest integer, ties to even, in [-127, 127]; 0 for a NaN.
KVSIM_HOST_DEVICE inline uint8_t EncodeInt8(float value) {
  if (IsNan(BitsOfFloat(value))) return 0;
  if (value >= kLargestInt8) return 127;
  if (value <= -kLargestInt8) return static_cast<uint8_t>(-127);
  // Floats in [2^23, 2^24) are 1 apart: the sum rounds, and its last bits are the
  // integer's in two's complement.
  return static_cast<uint8_t>(BitsOfFloat(value + 0x1.8p23f) & 0xffu);
}

// --- scales --------------------------------------------------------------------

KVSIM_HOST_DEVICE inline float DecodeUe8m0(uint8_t code) {
  if (code == 0) return 0x1p-127f;
  if (code == 0xff) return FloatOfBits(0x7fffffffu);
  return FloatOfBits(uint32_t{code} << 23);
}

// The least power of two that is at least `scale`, which is not negative; 2^127 at
// most, and 0xff for a NaN.
KVSIM_HOST_DEVICE inline uint8_t EncodeUe8m0(float scale) {
  const uint32_t bits = BitsOfFloat(scale);
  if (IsNan(bits)) return 0xff;
  if (bits >= 0x7f000000u) return 0xfe;
  if (bits < 0x00800000u) return bits > 0x00400000u ? 1 : 0;
  return static_cast<uint8_t>((bits + 0x007fffffu) >> 23);
}

// How a group's scale follows from its largest magnitude.
struct ScaleRule {
  float largest_code = kLargestFp8;
  float least_magnitude = 0;  // a smaller largest magnitude counts as this
  float least_scale = 0;
  bool power_of_two = false;  // rounded up to one
};

KVSIM_HOST_DEVICE inline float GroupScale(const ScaleRule& rule,
                                          float largest_magnitude) {
  const float magnitude = largest_magnitude > rule.least_magnitude
                              ? largest_magnitude
                              : rule.least_magnitude;
  float scale = magnitude / rule.largest_code;
  if (scale < rule.least_scale) scale = rule.least_scale;
  return rule.power_of_two ? DecodeUe8m0(EncodeUe8m0(scale)) : scale;
}

// The larger of a magnitude and |value|; a NaN counts as nothing, so the order in
// which a group is walked does not matter.
KVSIM_HOST_DEVICE inline float LargerMagnitude(float magnitude, float value) {
  const float other = FloatOfBits(BitsOfFloat(value) & 0x7fffffffu);
  return other > magnitude ? other : magnitude;
}

}  // namespace kvsim

#endif  // KVSIM_KERNELS_ROW_ENCODING_H_
