#include "traces/trace_options.h"

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "traces/trace_limits.h"
#include "traces/trace_problem.h"

namespace kvsim {
namespace {

template <typename Enum>
struct Name {
  Enum value;
  const char* text;
};

constexpr Name<Arrivals> kArrivals[] = {
    {Arrivals::kTimestamps, "timestamps"},
    {Arrivals::kAfterPrevious, "after-previous"}};
constexpr Name<PartialTail> kTails[] = {{PartialTail::kUnique, "unique"},
                                        {PartialTail::kShared, "shared"}};

template <typename Enum, size_t kSize>
absl::StatusOr<Enum> Parse(absl::string_view text,
                           const Name<Enum> (&names)[kSize]) {
  std::string accepted;
  for (const Name<Enum>& name : names) {
    if (text == name.text) return name.value;
    absl::StrAppend(&accepted, accepted.empty() ? "" : ", ", name.text);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("found ", Excerpt(text), "; accepted: ", accepted));
}

template <typename Enum, size_t kSize>
const char* NameOf(Enum value, const Name<Enum> (&names)[kSize]) {
  for (const Name<Enum>& name : names) {
    if (name.value == value) return name.text;
  }
  return "unknown";
}

absl::Status RateScaleError(absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(
      "found ", Excerpt(text),
      "; accepted: a rate factor above 0 such as 2, 0.25 or 3/2, both parts at "
      "most 1000000000"));
}

bool IsDigits(absl::string_view text) {
  return !text.empty() && text.size() <= 10 &&
         text.find_first_not_of("0123456789") == absl::string_view::npos;
}

// "0.25" as 25 / 100.
bool ParseDecimal(absl::string_view text, RateScale* scale) {
  const size_t point = text.find('.');
  const absl::string_view whole = text.substr(0, point);
  const absl::string_view fraction =
      point == absl::string_view::npos ? "" : text.substr(point + 1);
  scale->denominator = 1;
  for (size_t i = 0; i < fraction.size() && i < 10; ++i) {
    scale->denominator *= 10;
  }
  const std::string digits = absl::StrCat(whole, fraction);
  return (point == absl::string_view::npos || !fraction.empty()) &&
         IsDigits(digits) && absl::SimpleAtoi(digits, &scale->numerator);
}

}  // namespace

int64_t RateScale::Apply(int64_t arrival_ns) const {
  KVSIM_CHECK_GE(arrival_ns, 0);
  if (numerator == denominator) return arrival_ns;
  const absl::int128 scaled =
      absl::int128(arrival_ns) * denominator / numerator;
  return scaled > kMaxTraceTimeNs ? kMaxTraceTimeNs
                                  : static_cast<int64_t>(scaled);
}

absl::StatusOr<Arrivals> ParseArrivals(absl::string_view text) {
  return Parse(text, kArrivals);
}

absl::StatusOr<PartialTail> ParsePartialTail(absl::string_view text) {
  return Parse(text, kTails);
}

absl::StatusOr<RateScale> ParseRateScale(absl::string_view text) {
  RateScale scale;
  const size_t slash = text.find('/');
  bool good = false;
  if (slash != absl::string_view::npos) {
    const absl::string_view above = text.substr(0, slash);
    const absl::string_view below = text.substr(slash + 1);
    good = IsDigits(above) && IsDigits(below) &&
           absl::SimpleAtoi(above, &scale.numerator) &&
           absl::SimpleAtoi(below, &scale.denominator);
  } else {
    good = ParseDecimal(text, &scale);
  }
  if (!good || scale.numerator <= 0 || scale.denominator <= 0 ||
      scale.numerator > RateScale::kMax ||
      scale.denominator > RateScale::kMax) {
    return RateScaleError(text);
  }
  return scale;
}

const char* ArrivalsName(Arrivals arrivals) {
  return NameOf(arrivals, kArrivals);
}

const char* PartialTailName(PartialTail partial_tail) {
  return NameOf(partial_tail, kTails);
}

}  // namespace kvsim
