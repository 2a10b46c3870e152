#include "engines/vllm/engine_version.h"

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace kvsim::vllm {
namespace {

constexpr VersionNumbers kNewestRelease = {0, 31, 0};
constexpr VersionNumbers kNewestDate = {2026, 8, 17};

// "2026-08-17". Anything else: nullopt.
std::optional<VersionNumbers> ParseDate(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '-');
  VersionNumbers date = {};
  if (parts.size() != 3) return std::nullopt;
  for (size_t i = 0; i < 3; ++i) {
    if (!absl::SimpleAtoi(parts[i], &date[i])) return std::nullopt;
  }
  const bool plausible = date[0] >= 2023 && date[0] <= 9999 && date[1] >= 1 &&
                         date[1] <= 12 && date[2] >= 1 && date[2] <= 31;
  if (!plausible) return std::nullopt;
  return date;
}

// The leading digits of *text, at most six of them.
std::optional<int> ConsumeNumber(absl::string_view* text) {
  size_t digits = 0;
  while (digits < text->size() && digits < 6 &&
         absl::ascii_isdigit(static_cast<unsigned char>((*text)[digits]))) {
    ++digits;
  }
  int value = 0;
  if (!absl::SimpleAtoi(text->substr(0, digits), &value)) return std::nullopt;
  text->remove_prefix(digits);
  return value;
}

// "v0.19.2rc1.dev43+g123" -> {0, 19, 2}; the rest orders nothing here. At
// least two numbers.
std::optional<VersionNumbers> ParseRelease(absl::string_view text) {
  absl::ConsumePrefix(&text, "v");
  VersionNumbers release = {};
  for (size_t i = 0; i < 3; ++i) {
    const std::optional<int> number = ConsumeNumber(&text);
    if (!number.has_value()) {
      if (i < 2) return std::nullopt;
      break;
    }
    release[i] = *number;
    if (absl::ConsumePrefix(&text, ".")) continue;
    if (i == 0) return std::nullopt;
    break;
  }
  return release;
}

}  // namespace

absl::StatusOr<EngineVersion> ParseEngineVersion(absl::string_view text) {
  EngineVersion version{.text = std::string(text), .numbers = {}};
  if (text.empty()) return version;
  const std::optional<VersionNumbers> date = ParseDate(text);
  const std::optional<VersionNumbers> numbers =
      date.has_value() ? date : ParseRelease(text);
  if (!numbers.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--engine-version '", text,
        "': expected a release such as 0.21.0 or a date such as 2026-08-17"));
  }
  version.numbers = *numbers;
  version.is_date = date.has_value();
  const bool unordered =
      !version.is_date && (*numbers)[0] == 0 && (*numbers)[1] <= 1;
  const bool future =
      *numbers > (version.is_date ? kNewestDate : kNewestRelease);
  version.newest = unordered || future;
  if (version.newest) {
    version.note = absl::StrCat("vLLM ", text,
                                unordered ? " is a fork's or development number"
                                          : " is newer than any version seen",
                                "; the newest known rules are used");
  }
  return version;
}

RuleAge AgeOf(const VersionBracket& change, const EngineVersion& version) {
  if (version.newest) return RuleAge::kNew;
  const VersionNumbers& first =
      version.is_date ? change.first_new_date : change.first_new;
  const VersionNumbers& last =
      version.is_date ? change.last_old_date : change.last_old;
  if (version.numbers >= first) return RuleAge::kNew;
  return version.numbers <= last ? RuleAge::kOld : RuleAge::kBetween;
}

std::string NewestRules() {
  return absl::StrFormat("main of %04d-%02d-%02d, releases to %d.%d.%d",
                         kNewestDate[0], kNewestDate[1], kNewestDate[2],
                         kNewestRelease[0], kNewestRelease[1],
                         kNewestRelease[2]);
}

}  // namespace kvsim::vllm
