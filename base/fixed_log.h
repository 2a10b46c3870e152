// Binary logarithm and exponential in integers.
//
// std::log and std::exp may differ in the last bit between libraries, which
// would make a random length, and with it a whole simulation, depend on the
// machine. These two use 64-bit integers only.
//
// Model:    a Q32 is an int64 counting units of 2^-32.
// Accuracy: FixedLog2 truncates after 32 fraction bits: error in (-2^-32, 0].
//           FixedExp2 is within 2^-48 relative, plus half a unit of rounding.
// Costs:    FixedLog2 32 multiplications of 64 by 64 bits, FixedExp2 at
// most 32.

#ifndef KVSIM_BASE_FIXED_LOG_H_
#define KVSIM_BASE_FIXED_LOG_H_

#include <cstdint>

namespace kvsim {

inline constexpr int kQ32Bits = 32;
inline constexpr int64_t kQ32One = int64_t{1} << kQ32Bits;

// ln 2 and its reciprocal, for natural logarithms: both rounded to the nearest.
inline constexpr double kLn2 = 0.6931471805599453;
inline constexpr double kLog2E = 1.4426950408889634;

// log2(value) as Q32. REQUIRES: value > 0.
int64_t FixedLog2(uint64_t value);

// 2^exponent, where exponent is a Q32, as Q32; saturates at int64's maximum
// (exponent >= 31) and falls to 0 below -33.
int64_t FixedExp2(int64_t exponent);

}  // namespace kvsim

#endif  // KVSIM_BASE_FIXED_LOG_H_
