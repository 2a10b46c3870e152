#include "sim/recorded_cost.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/text.h"
#include "sim/round_ns.h"

namespace kvsim {
namespace {

absl::StatusOr<int64_t> ParseStep(absl::string_view text) {
  int64_t ns = 0;
  if (!absl::SimpleAtoi(text, &ns)) {
    const absl::StatusOr<SimTime> time = ParseDuration(text);
    if (!time.ok()) return time.status();
    ns = time->value();
  }
  if (ns <= 0 || ns > static_cast<int64_t>(kMaxStepNs)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "found \"", text, "\"; accepted: a time from 1 ns to 1e15 ns"));
  }
  return ns;
}

absl::string_view WithoutComment(absl::string_view line) {
  return absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
}

}  // namespace

absl::StatusOr<std::unique_ptr<RecordedCost>> RecordedCost::Open(
    const std::string& path) {
  std::ifstream in(path);
  if (!in) {
    return absl::NotFoundError(absl::StrCat(path, ": ", std::strerror(errno)));
  }
  return Read(in, path);
}

absl::StatusOr<std::unique_ptr<RecordedCost>> RecordedCost::Read(
    std::istream& in, const std::string& name) {
  std::vector<int64_t> durations_ns;
  std::string line;
  int64_t number = 0;
  while (std::getline(in, line)) {
    ++number;
    const absl::string_view text = WithoutComment(line);
    if (text.empty()) continue;
    const absl::StatusOr<int64_t> ns = ParseStep(text);
    if (!ns.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ":", number, ": ", ns.status().message()));
    }
    durations_ns.push_back(*ns);
  }
  if (in.bad())
    return absl::UnavailableError(absl::StrCat(name, ": unreadable"));
  if (durations_ns.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": no step durations; accepted: one a line"));
  }
  return std::unique_ptr<RecordedCost>(
      new RecordedCost(name, std::move(durations_ns), number));
}

int64_t RecordedCost::StepNs(const StepPlan&) {
  const size_t step = next_++;
  return step < durations_ns_.size() ? durations_ns_[step]
                                     : durations_ns_.back();
}

absl::Status RecordedCost::status() const {
  if (next_ <= durations_ns_.size()) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat(
      name_, ":", last_line_, ": the file ends after ", num_durations(),
      " steps but the replay goes on; accepted: one duration per step"));
}

}  // namespace kvsim
