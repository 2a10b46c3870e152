#include "traces/civil_time.h"

#include "absl/strings/strip.h"
#include "traces/trace_limits.h"

namespace kvsim {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

// Takes exactly `digits` digits that make a number in [min, max].
bool TakeNumber(absl::string_view* text, size_t digits, int64_t min,
                int64_t max, int64_t* number) {
  if (text->size() < digits) return false;
  *number = 0;
  for (const char c : text->substr(0, digits)) {
    if (c < '0' || c > '9') return false;
    *number = *number * 10 + (c - '0');
  }
  text->remove_prefix(digits);
  return *number >= min && *number <= max;
}

bool IsLeap(int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int64_t DaysInMonth(int64_t year, int64_t month) {
  constexpr int64_t kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return kDays[month - 1] + (month == 2 && IsLeap(year) ? 1 : 0);
}

int64_t DaysSince1970(int64_t year, int64_t month, int64_t day) {
  int64_t days = day - 1;
  for (int64_t y = 1970; y < year; ++y) days += IsLeap(y) ? 366 : 365;
  for (int64_t m = 1; m < month; ++m) days += DaysInMonth(year, m);
  return days;
}

bool TakeFraction(absl::string_view* text, int64_t* ns) {
  *ns = 0;
  if (!absl::ConsumePrefix(text, ".")) return true;
  int64_t unit = kNsPerSecond;
  while (!text->empty() && text->front() >= '0' && text->front() <= '9') {
    if (unit == 1) return false;  // ten digits
    unit /= 10;
    *ns += (text->front() - '0') * unit;
    text->remove_prefix(1);
  }
  return unit < kNsPerSecond;
}

// The offset from UTC at the end, in seconds.
bool TakeOffset(absl::string_view* text, int64_t* seconds) {
  *seconds = 0;
  if (text->empty() || absl::ConsumePrefix(text, "Z")) return text->empty();
  const int64_t sign = text->front() == '-' ? -1 : 1;
  int64_t hours = 0;
  int64_t minutes = 0;
  if ((!absl::ConsumePrefix(text, "+") && !absl::ConsumePrefix(text, "-")) ||
      !TakeNumber(text, 2, 0, 14, &hours)) {
    return false;
  }
  absl::ConsumePrefix(text, ":");
  if (!TakeNumber(text, 2, 0, 59, &minutes)) return false;
  *seconds = sign * (hours * 3600 + minutes * 60);
  return text->empty();
}

}  // namespace

std::optional<int64_t> ParseCivilTime(absl::string_view text) {
  int64_t year = 0;
  int64_t month = 0;
  int64_t day = 0;
  int64_t hour = 0;
  int64_t minute = 0;
  int64_t second = 0;
  int64_t fraction_ns = 0;
  int64_t offset = 0;
  const bool is_date = TakeNumber(&text, 4, 1970, 2043, &year) &&
                       absl::ConsumePrefix(&text, "-") &&
                       TakeNumber(&text, 2, 1, 12, &month) &&
                       absl::ConsumePrefix(&text, "-") &&
                       TakeNumber(&text, 2, 1, DaysInMonth(year, month), &day);
  if (!is_date ||
      (!absl::ConsumePrefix(&text, " ") && !absl::ConsumePrefix(&text, "T"))) {
    return std::nullopt;
  }
  const bool is_time =
      TakeNumber(&text, 2, 0, 23, &hour) && absl::ConsumePrefix(&text, ":") &&
      TakeNumber(&text, 2, 0, 59, &minute) && absl::ConsumePrefix(&text, ":") &&
      TakeNumber(&text, 2, 0, 59, &second) &&
      TakeFraction(&text, &fraction_ns) && TakeOffset(&text, &offset);
  if (!is_time) return std::nullopt;
  const int64_t seconds = DaysSince1970(year, month, day) * 86'400 +
                          hour * 3'600 + minute * 60 + second - offset;
  const int64_t ns = seconds * kNsPerSecond + fraction_ns;
  if (ns < 0 || ns > kMaxTraceTimeNs) return std::nullopt;
  return ns;
}

}  // namespace kvsim
