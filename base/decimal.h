// Decimal numbers as people type them, scaled without floating point.
//
// Model:  a Decimal is digits / 10^fraction_digits. `33.35` times 2^30 is exact
//         up to one final rounding, so "33.35GiB" means the same number of
//         bytes on every machine.
// Limits: 22 significant digits, which times 2^50 (PiB) fits 128 bits.

#ifndef KVSIM_BASE_DECIMAL_H_
#define KVSIM_BASE_DECIMAL_H_

#include <cstdint>
#include <optional>

#include "absl/numeric/int128.h"
#include "absl/strings/string_view.h"

namespace kvsim {

struct Decimal {
  absl::uint128 digits = 0;
  int fraction_digits = 0;
};

// Takes the longest number from the front of *text: digits with at most one
// point between or before them (`7`, `1.5`, `.5`). nullopt, and *text
// unchanged, when none stands there or it has more than 22 significant digits.
// Signs, exponents, NaN and infinities are not numbers here.
std::optional<Decimal> ConsumeDecimal(absl::string_view* text);

// The integer nearest to value * multiplier, halves upward; nullopt when it
// exceeds int64.
// REQUIRES: 0 < multiplier <= 2^50.
std::optional<int64_t> Scale(const Decimal& value, int64_t multiplier);

// The double nearest to `value`, for up to 15 significant digits.
double ToDouble(const Decimal& value);

}  // namespace kvsim

#endif  // KVSIM_BASE_DECIMAL_H_
