#include "base/decimal.h"

#include <limits>

#include "absl/strings/ascii.h"
#include "base/check.h"

namespace kvsim {
namespace {

constexpr int kMaxSignificantDigits = 22;

absl::uint128 PowerOfTen(int exponent) {
  absl::uint128 power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

}  // namespace

std::optional<Decimal> ConsumeDecimal(absl::string_view* text) {
  Decimal value;
  int significant = 0;
  bool any_digit = false;
  bool after_point = false;
  size_t length = 0;
  for (; length < text->size(); ++length) {
    const char c = (*text)[length];
    if (c == '.' && !after_point) {
      after_point = true;
      continue;
    }
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) break;
    any_digit = true;
    if (value.digits != 0 || c != '0') ++significant;
    // Leading zeros after the point count too, or 10^fraction would overflow.
    if (after_point) ++value.fraction_digits;
    if (significant > kMaxSignificantDigits ||
        value.fraction_digits > kMaxSignificantDigits) {
      return std::nullopt;
    }
    value.digits = value.digits * 10 + static_cast<uint64_t>(c - '0');
  }
  if (!any_digit || (*text)[length - 1] == '.') return std::nullopt;
  text->remove_prefix(length);
  return value;
}

std::optional<int64_t> Scale(const Decimal& value, int64_t multiplier) {
  KVSIM_CHECK(multiplier > 0 && multiplier <= (int64_t{1} << 50));
  const absl::uint128 divisor = PowerOfTen(value.fraction_digits);
  const absl::uint128 product =
      value.digits * static_cast<uint64_t>(multiplier);
  const absl::uint128 rounded = (product + divisor / 2) / divisor;
  if (rounded > std::numeric_limits<int64_t>::max()) return std::nullopt;
  return static_cast<int64_t>(rounded);
}

double ToDouble(const Decimal& value) {
  return static_cast<double>(value.digits) /
         static_cast<double>(PowerOfTen(value.fraction_digits));
}

}  // namespace kvsim
