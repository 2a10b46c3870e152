#include "base/fixed_log.h"

#include <array>
#include <bit>
#include <limits>

#include "absl/numeric/int128.h"
#include "base/check.h"

namespace kvsim {
namespace {

constexpr uint64_t kTopBit = uint64_t{1} << 63;

// The high half of a * b, where both have 63 fraction bits: again 63 bits.
uint64_t MultiplyQ63(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>((absl::uint128(a) * b) >> 63);
}

// The largest r with r * r <= value.
uint64_t SquareRoot(absl::uint128 value) {
  uint64_t root = 0;
  for (uint64_t bit = kTopBit; bit != 0; bit >>= 1) {
    const absl::uint128 candidate = root | bit;
    if (candidate * candidate <= value) root |= bit;
  }
  return root;
}

// entry[i] = 2^(2^-(i+1)) with 63 fraction bits: each the square root of the
// one before, starting from the square root of 2.
using RootTable = std::array<uint64_t, kQ32Bits>;
RootTable MakeRootTable() {
  RootTable table;
  absl::uint128 radicand = absl::uint128(1) << 127;  // 2 with 126 bits
  for (uint64_t& entry : table) {
    entry = SquareRoot(radicand);
    radicand = absl::uint128(entry) << 63;
  }
  return table;
}

}  // namespace

int64_t FixedLog2(uint64_t value) {
  KVSIM_CHECK(value > 0);
  const int whole = std::bit_width(value) - 1;
  // x in [1, 2) with 63 fraction bits. Squaring doubles its logarithm, so each
  // square that reaches 2 yields a one as the next bit.
  uint64_t x = value << (63 - whole);
  int64_t log = whole;
  for (int i = 0; i < kQ32Bits; ++i) {
    const absl::uint128 square = absl::uint128(x) * x;  // 126 fraction bits
    const bool reaches_two = (absl::Uint128High64(square) & kTopBit) != 0;
    x = static_cast<uint64_t>(square >> (reaches_two ? 64 : 63));
    log = 2 * log + (reaches_two ? 1 : 0);
  }
  return log;
}

int64_t FixedExp2(int64_t exponent) {
  static const RootTable kRoots = MakeRootTable();
  const int64_t whole = exponent >> kQ32Bits;  // floor
  if (whole >= 31) return std::numeric_limits<int64_t>::max();
  if (whole < -33) return 0;
  const auto fraction = static_cast<uint64_t>(exponent & (kQ32One - 1));
  uint64_t power = kTopBit;  // 1 with 63 fraction bits
  for (int i = 0; i < kQ32Bits; ++i) {
    if ((fraction >> (kQ32Bits - 1 - i)) & 1) {
      power = MultiplyQ63(power, kRoots[static_cast<size_t>(i)]);
    }
  }
  // From 63 fraction bits, scaled by 2^whole, to 32: shift in [1, 64].
  const int shift = static_cast<int>(63 - kQ32Bits - whole);
  const absl::uint128 half = absl::uint128(1) << (shift - 1);
  return static_cast<int64_t>((absl::uint128(power) + half) >> shift);
}

}  // namespace kvsim
