#include "base/text.h"

#include <iterator>
#include <optional>
#include <span>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/decimal.h"

namespace kvsim {
namespace {

struct Unit {
  absl::string_view name;
  int64_t size;
};

// Largest first, as FormatInLargest wants them.
constexpr Unit kBinaryUnits[] = {
    {"PiB", int64_t{1} << 50}, {"TiB", int64_t{1} << 40},
    {"GiB", int64_t{1} << 30}, {"MiB", int64_t{1} << 20},
    {"KiB", int64_t{1} << 10}, {"B", 1},
};

constexpr Unit kDecimalUnits[] = {
    {"PB", 1'000'000'000'000'000},
    {"TB", 1'000'000'000'000},
    {"GB", 1'000'000'000},
    {"MB", 1'000'000},
    {"kB", 1'000},
    {"B", 1},
};

constexpr Unit kByteUnits[] = {
    {"", 1},
    {"B", 1},
    {"KiB", int64_t{1} << 10},
    {"MiB", int64_t{1} << 20},
    {"GiB", int64_t{1} << 30},
    {"TiB", int64_t{1} << 40},
    {"PiB", int64_t{1} << 50},
    {"kB", 1'000},
    {"KB", 1'000},
    {"MB", 1'000'000},
    {"GB", 1'000'000'000},
    {"TB", 1'000'000'000'000},
    {"PB", 1'000'000'000'000'000},
};

constexpr Unit kTokenUnits[] = {
    {"K", int64_t{1} << 10},
    {"M", int64_t{1} << 20},
};

constexpr Unit kTimeUnits[] = {
    {"s", 1'000'000'000},    {"ms", 1'000'000},        {"us", 1'000}, {"ns", 1},
    {"min", 60'000'000'000}, {"h", 3'600'000'000'000},
};

constexpr char kByteHelp[] =
    "a number with B, KiB, MiB, GiB, TiB, PiB (powers of 1024) or kB, MB, GB, "
    "TB, PB (powers of 1000), for example 33.35GiB";
constexpr char kTokenHelp[] =
    "a whole number, or one with K (1,024) or M (1,048,576), for example "
    "131072 or 128K";
constexpr char kTimeHelp[] =
    "a number with ns, us, ms, s, min or h, for example 20ms";

absl::Status Refuse(absl::string_view text, absl::string_view why,
                    absl::string_view accepted) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" ", why, "; accepted: ", accepted));
}

// A decimal number followed by one of `units`.
absl::StatusOr<int64_t> ParseWithUnit(absl::string_view text,
                                      std::span<const Unit> units,
                                      absl::string_view accepted) {
  absl::string_view rest = absl::StripAsciiWhitespace(text);
  const std::optional<Decimal> number = ConsumeDecimal(&rest);
  if (!number.has_value()) {
    return Refuse(text,
                  "does not start with a non-negative number of at most "
                  "22 digits",
                  accepted);
  }
  rest = absl::StripLeadingAsciiWhitespace(rest);
  for (const Unit& unit : units) {
    if (unit.name != rest) continue;
    const std::optional<int64_t> value = Scale(*number, unit.size);
    if (!value.has_value()) {
      return Refuse(text, "is larger than 2^63 - 1", accepted);
    }
    return *value;
  }
  if (rest.empty()) return Refuse(text, "has no unit", accepted);
  return Refuse(text, absl::StrCat("has the unknown unit \"", rest, "\""),
                accepted);
}

// Digits with commas, if any, before each group of three; nullopt otherwise.
std::optional<std::string> WithoutThousandsSeparators(absl::string_view text) {
  std::string digits;
  const bool grouped = absl::StrContains(text, ",");
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t from_end = text.size() - 1 - i;
    const bool separator = grouped && from_end % 4 == 3;
    if (separator != (text[i] == ',')) return std::nullopt;
    if (!separator) digits += text[i];
  }
  if (grouped && text.front() == ',') return std::nullopt;
  return digits;
}

std::string FormatInLargest(int64_t value, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (value < unit.size && value > -unit.size) continue;
    if (unit.size == 1) return absl::StrCat(value, " ", unit.name);
    return absl::StrCat(FormatRatio(value, unit.size, 2), " ", unit.name);
  }
  return absl::StrCat(value, " ", units.back().name);
}

// |numerator| < 2^70, so nothing overflows; the sign of -0.00 is not worth
// printing.
std::string FormatWideRatio(absl::int128 numerator, int64_t denominator,
                            int decimals) {
  int64_t power = 1;
  for (int i = 0; i < decimals; ++i) power *= 10;
  const bool negative = numerator < 0;
  const absl::int128 magnitude = negative ? -numerator : numerator;
  const absl::int128 scaled =
      (magnitude * power * 2 + denominator) / (absl::int128(denominator) * 2);
  const absl::int128 whole = scaled / power;
  const auto fraction = static_cast<int64_t>(scaled % power);
  std::string text = negative && scaled != 0 ? "-" : "";
  // A whole part of more than 64 bits is printed in two.
  constexpr int64_t kHalf = 1'000'000'000'000'000'000;
  if (whole >= kHalf) {
    absl::StrAppend(&text, static_cast<int64_t>(whole / kHalf));
    absl::StrAppendFormat(&text, "%018d", static_cast<int64_t>(whole % kHalf));
  } else {
    absl::StrAppend(&text, static_cast<int64_t>(whole));
  }
  if (decimals == 0) return text;
  absl::StrAppendFormat(&text, ".%0*d", decimals, fraction);
  return text;
}

}  // namespace

std::string FormatCount(int64_t count) {
  std::string text = absl::StrCat(count);
  const size_t first_digit = count < 0 ? 1 : 0;
  for (size_t i = text.size(); i > first_digit + 3;) {
    i -= 3;
    text.insert(i, ",");
  }
  return text;
}

std::string FormatRatio(int64_t numerator, int64_t denominator, int decimals) {
  KVSIM_CHECK(denominator > 0 && decimals >= 0 && decimals <= 9);
  return FormatWideRatio(numerator, denominator, decimals);
}

std::string FormatPercent(int64_t part, int64_t whole, int decimals) {
  KVSIM_CHECK(whole >= 0 && decimals <= 7);
  if (whole == 0) return "n/a";
  return absl::StrCat(
      FormatWideRatio(absl::int128(part) * 100, whole, decimals), " %");
}

std::string FormatBytes(Bytes bytes, ByteUnits units) {
  return units == ByteUnits::kBinary
             ? FormatInLargest(bytes.value(), kBinaryUnits)
             : FormatInLargest(bytes.value(), kDecimalUnits);
}

std::string FormatGiga(Bytes bytes, ByteUnits units, int decimals) {
  return units == ByteUnits::kBinary ? FormatGiB(bytes, decimals)
                                     : FormatGB(bytes, decimals);
}

std::string FormatGiB(Bytes bytes, int decimals) {
  return absl::StrCat(FormatRatio(bytes.value(), GiB(1).value(), decimals),
                      " GiB");
}

std::string FormatGB(Bytes bytes, int decimals) {
  return absl::StrCat(FormatRatio(bytes.value(), 1'000'000'000, decimals),
                      " GB");
}

std::string FormatDuration(SimTime time) {
  constexpr Unit kUnits[] = {
      {"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}};
  constexpr SimTime kMinute = Seconds(60);
  // What would round to 60.00 s is a minute.
  if (time < kMinute - Milliseconds(5)) {
    return FormatInLargest(time.value(), kUnits);
  }
  const int64_t seconds = (time + Milliseconds(500)) / Seconds(1);
  if (seconds < 3600) {
    return absl::StrFormat("%d min %02d s", seconds / 60, seconds % 60);
  }
  const int64_t minutes = (seconds + 30) / 60;
  return absl::StrFormat("%d h %02d min", minutes / 60, minutes % 60);
}

absl::StatusOr<int64_t> ParseCount(absl::string_view text) {
  constexpr char kHelp[] = "a whole number of at least 0, for example 131072";
  const std::optional<std::string> digits =
      WithoutThousandsSeparators(absl::StripAsciiWhitespace(text));
  if (!digits.has_value() || digits->empty() ||
      digits->find_first_not_of("0123456789") != std::string::npos) {
    return Refuse(text, "is not a count", kHelp);
  }
  int64_t count = 0;
  if (!absl::SimpleAtoi(*digits, &count)) {
    return Refuse(text, "is larger than 2^63 - 1", kHelp);
  }
  return count;
}

absl::StatusOr<Bytes> ParseBytes(absl::string_view text) {
  const absl::StatusOr<int64_t> value =
      ParseWithUnit(text, kByteUnits, kByteHelp);
  if (!value.ok()) return value.status();
  return Bytes(*value);
}

absl::StatusOr<Tokens> ParseTokens(absl::string_view text) {
  absl::StatusOr<int64_t> value = ParseCount(text);
  if (!value.ok()) value = ParseWithUnit(text, kTokenUnits, kTokenHelp);
  if (!value.ok()) return value.status();
  return Tokens(*value);
}

absl::StatusOr<SimTime> ParseDuration(absl::string_view text) {
  const absl::StatusOr<int64_t> value =
      ParseWithUnit(text, kTimeUnits, kTimeHelp);
  if (!value.ok()) return value.status();
  return SimTime(*value);
}

absl::StatusOr<double> ParseFraction(absl::string_view text) {
  constexpr char kHelp[] = "a share from 0 to 1 or 0% to 100%";
  absl::string_view rest = absl::StripAsciiWhitespace(text);
  std::optional<Decimal> number = ConsumeDecimal(&rest);
  if (number.has_value() && rest == "%") {
    number->fraction_digits += 2;
    rest = "";
  }
  if (!number.has_value() || !rest.empty()) {
    return Refuse(text, "is not a share", kHelp);
  }
  const double value = ToDouble(*number);
  if (value > 1.0) return Refuse(text, "is more than the whole", kHelp);
  return value;
}

}  // namespace kvsim
