#include "engines/vllm/checkpoint_policy.h"

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/text.h"
#include "base/units.h"

namespace kvsim::vllm {
namespace {

constexpr int64_t kMostTokens = int64_t{1} << 40;
constexpr int64_t kMostPermille = 1'000'000;

absl::Status Refused() {
  return absl::InvalidArgumentError(
      "accepted: none, or one or more, joined by +, of dense, every:TOKENS, "
      "geometric:TOKENS, prompt-end, branch-points, value[:WEIGHT]");
}

absl::Status ReadTokens(absl::string_view text, int64_t* tokens) {
  const absl::StatusOr<Tokens> count = ParseTokens(text);
  if (!count.ok() || count->value() < 1 || count->value() > kMostTokens) {
    return Refused();
  }
  *tokens = count->value();
  return absl::OkStatus();
}

absl::Status ReadWeight(absl::string_view text,
                        std::optional<int64_t>* permille) {
  double weight = 1;
  if (!text.empty() && !absl::SimpleAtod(text, &weight)) return Refused();
  if (!(weight >= 0 && weight <= kMostPermille / 1000)) return Refused();
  *permille = static_cast<int64_t>(weight * 1000 + 0.5);
  return absl::OkStatus();
}

absl::Status ReadPart(absl::string_view part, CheckpointPolicy* policy) {
  const std::pair<absl::string_view, absl::string_view> halves =
      absl::StrSplit(part, absl::MaxSplits(':', 1));
  const auto [name, value] = halves;
  if (name == "every") return ReadTokens(value, &policy->every);
  if (name == "geometric") return ReadTokens(value, &policy->geometric);
  if (name == "value") return ReadWeight(value, &policy->value_permille);
  bool* const flag = part == "dense"           ? &policy->dense
                     : part == "prompt-end"    ? &policy->prompt_end
                     : part == "branch-points" ? &policy->branch_points
                                               : nullptr;
  if (flag == nullptr) return Refused();
  *flag = true;
  return absl::OkStatus();
}

}  // namespace

int64_t CheckpointSpacing::Next(int64_t least) const {
  least = std::max<int64_t>(least, 1);
  return std::min(NextMultiple(least), NextPower(least));
}

// A boundary is floor(j·every / unit)·unit; the first is at least one unit.
int64_t CheckpointSpacing::NextMultiple(int64_t least) const {
  if (every <= 0) return INT64_MAX;
  const int64_t whole = (least + unit - 1) / unit * unit;
  const int64_t multiple = (whole + every - 1) / every * every;
  return multiple / unit * unit;
}

int64_t CheckpointSpacing::NextPower(int64_t least) const {
  if (geometric <= 0) return INT64_MAX;
  int64_t power = geometric;
  while (power / unit * unit < least) {
    if (power > INT64_MAX / 2) return INT64_MAX;
    power *= 2;
  }
  return power / unit * unit;
}

int64_t CheckpointSpacing::Previous(int64_t boundary) const {
  int64_t previous = 0;
  if (every > 0) {
    previous = (boundary - 1) / every * every / unit * unit;
  }
  for (int64_t power = geometric; power > 0 && power < boundary; power *= 2) {
    previous = std::max(previous, power / unit * unit);
  }
  return previous;
}

CheckpointSpacing CheckpointPolicy::Spacing(int64_t unit) const {
  return {.every = dense ? unit : every, .geometric = geometric, .unit = unit};
}

std::string CheckpointPolicy::InWords() const {
  std::vector<std::string> parts;
  if (dense) parts.push_back("dense");
  if (every > 0) parts.push_back(absl::StrCat("every:", every));
  if (geometric > 0) parts.push_back(absl::StrCat("geometric:", geometric));
  if (prompt_end) parts.push_back("prompt-end");
  if (branch_points) parts.push_back("branch-points");
  if (value_permille.has_value()) {
    parts.push_back(
        absl::StrCat("value:", static_cast<double>(*value_permille) / 1000));
  }
  return parts.empty() ? "none" : absl::StrJoin(parts, "+");
}

absl::StatusOr<CheckpointPolicy> ParseCheckpointPolicy(absl::string_view text) {
  CheckpointPolicy policy;
  if (text == "none") return policy;
  for (absl::string_view part : absl::StrSplit(text, '+')) {
    absl::Status status = ReadPart(part, &policy);
    if (!status.ok()) return status;
  }
  CheckpointPolicy order_alone;
  order_alone.value_permille = policy.value_permille;
  if (policy == order_alone) policy.prompt_end = policy.branch_points = true;
  return policy;
}

}  // namespace kvsim::vllm
