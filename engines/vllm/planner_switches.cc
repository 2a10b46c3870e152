#include "engines/vllm/planner_switches.h"

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace kvsim::vllm {
namespace {

// A release as three numbers, or a date as year, month, day.
using Numbers = std::array<int, 3>;

// A rule that changed between two points of time or two releases.
struct Change {
  absl::string_view what;
  Numbers last_old;   // release last seen with the old rule
  Numbers first_new;  // release first seen with the new rule
  Numbers last_old_date;
  Numbers first_new_date;
  void (*make_old)(PlannerSwitches& switches);
};

constexpr Numbers kNewestRelease = {0, 31, 0};
constexpr Numbers kNewestDate = {2026, 8, 17};

constexpr Change kChanges[] = {
    {"token count of the size line",
     {0, 19, 2},
     {0, 20, 1},
     {2026, 4, 21},
     {2026, 5, 24},
     [](PlannerSwitches& s) { s.token_line = TokenLine::kBlocks; }},
    {"batches in flight",
     {0, 23, 0},
     {0, 27, 1},
     {2026, 5, 24},
     {2026, 8, 6},
     [](PlannerSwitches& s) { s.async_batches = 1; }},
    {"packed pool of compressed attention",
     {0, 23, 0},
     {0, 28, 0},
     {2026, 5, 24},
     {2026, 8, 17},
     [](PlannerSwitches& s) { s.compressed_pool = CompressedPool::kBucket; }},
    {"bucket pool of compressed attention",
     {0, 22, 1},
     {0, 23, 0},
     {2026, 4, 21},
     {2026, 5, 24},
     [](PlannerSwitches& s) { s.compressed_pool = CompressedPool::kTuple; }},
    {"one combined log line",
     {0, 26, 0},
     {0, 28, 0},
     {2026, 5, 24},
     {2026, 8, 6},
     [](PlannerSwitches& s) { s.one_log_line = false; }},
    {"CUDA-graph estimate subtracted",
     {0, 20, 99},
     {0, 21, 0},
     {2026, 4, 21},
     {2026, 5, 24},
     [](PlannerSwitches& s) { s.subtracts_cuda_graphs = false; }},
    {"default GPU memory utilization",
     {0, 19, 99},
     {0, 20, 1},
     {2026, 4, 21},
     {2026, 5, 24},
     [](PlannerSwitches& s) { s.default_utilization = 0.90; }},
    {"several groups under DCP",
     {0, 23, 0},
     {0, 27, 1},
     {2026, 5, 24},
     {2026, 8, 6},
     [](PlannerSwitches& s) { s.context_parallel_hybrids = false; }},
    {"prefix caching of hybrid models",
     {0, 27, 1},
     {0, 29, 0},
     {2026, 8, 3},
     {2026, 8, 17},
     [](PlannerSwitches& s) { s.hybrid_prefix_caching = false; }},
    {"check of overridden blocks",
     {0, 19, 2},
     {0, 28, 0},
     {2026, 4, 21},
     {2026, 8, 17},
     [](PlannerSwitches& s) { s.override_in_check = false; }},
    {"log lines per worker",
     {0, 11, 0},
     {0, 12, 0},
     {2025, 10, 31},
     {2026, 1, 1},
     [](PlannerSwitches& s) {
       s.one_log_line = false;
       s.lines_per_worker = true;
     }},
    {"V0 engine by default",
     {0, 7, 99},
     {0, 8, 0},
     {2025, 3, 1},
     {2025, 3, 18},
     [](PlannerSwitches& s) { s.previous_engine = true; }},
    {"V0's block line",
     {0, 6, 99},
     {0, 7, 0},
     {2025, 1, 1},
     {2025, 1, 27},
     [](PlannerSwitches& s) { s.says_gpu_blocks = true; }},
    {"sampler's profile",
     {0, 16, 99},
     {0, 17, 0},
     {2026, 1, 1},
     {2026, 2, 27},
     [](PlannerSwitches& s) { s.sampler_factor = 9.65; }},
    {"non-torch memory",
     {0, 17, 99},
     {0, 18, 0},
     {2026, 1, 1},
     {2026, 2, 27},
     [](PlannerSwitches& s) { s.late_non_torch = false; }},
};

// "2026-08-17". Anything else: nullopt.
std::optional<Numbers> ParseDate(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '-');
  Numbers date = {};
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
std::optional<Numbers> ParseRelease(absl::string_view text) {
  absl::ConsumePrefix(&text, "v");
  Numbers release = {};
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

// Where no release is known to be the last, the last number is 99.
std::string ReleaseText(const Numbers& release) {
  const std::string minor = absl::StrCat(release[0], ".", release[1]);
  return release[2] == 99 ? absl::StrCat(minor, ".x")
                          : absl::StrCat(minor, ".", release[2]);
}

void Apply(const Change& change, const Numbers& when, bool is_date,
           absl::string_view version, VersionedSwitches& result) {
  const Numbers& first = is_date ? change.first_new_date : change.first_new;
  const Numbers& last = is_date ? change.last_old_date : change.last_old;
  if (when >= first) return;
  change.make_old(result.switches);
  if (when <= last) return;
  result.notes.push_back(
      absl::StrCat("vLLM ", version, ": the change of '", change.what,
                   "' lies between two versions seen; the older rule is used"));
}

}  // namespace

std::string NewestRules() {
  return absl::StrFormat("main of %04d-%02d-%02d, releases to %d.%d.%d",
                         kNewestDate[0], kNewestDate[1], kNewestDate[2],
                         kNewestRelease[0], kNewestRelease[1],
                         kNewestRelease[2]);
}

absl::StatusOr<VersionedSwitches> SwitchesFor(absl::string_view version) {
  VersionedSwitches result;
  result.version = std::string(version);
  if (version.empty()) {
    result.version = "newest known rules";
    return result;
  }
  const std::optional<Numbers> date = ParseDate(version);
  const std::optional<Numbers> release =
      date.has_value() ? date : ParseRelease(version);
  if (!release.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--engine-version '", version,
        "': expected a release such as 0.21.0 or a date such as 2026-08-17"));
  }
  const bool is_date = date.has_value();
  const bool unordered = !is_date && (*release)[0] == 0 && (*release)[1] <= 1;
  const bool future = *release > (is_date ? kNewestDate : kNewestRelease);
  if (unordered || future) {
    result.notes.push_back(
        absl::StrCat("vLLM ", version,
                     unordered ? " is a fork's or development number"
                               : " is newer than any version seen",
                     "; the newest known rules are used"));
    return result;
  }
  for (const Change& change : kChanges) {
    Apply(change, *release, is_date, version, result);
  }
  return result;
}

std::vector<RuleChange> RuleChanges() {
  std::vector<RuleChange> changes;
  for (const Change& change : kChanges) {
    RuleChange told;
    told.last_old = ReleaseText(change.last_old);
    told.first_new = ReleaseText(change.first_new);
    change.make_old(told.old_rules);
    changes.push_back(std::move(told));
  }
  return changes;
}

}  // namespace kvsim::vllm
