#include "sim/linear_cost.h"

#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "sim/batch_shape.h"
#include "sim/round_ns.h"

namespace kvsim {
namespace {

constexpr char kAccepted[] =
    "accepted: base=US,prefill=US,decode=US,context=US, each once, with "
    "microseconds from 0 to 1e9";
constexpr double kMaxUs = 1e9;

absl::Status Refuse(absl::string_view part) {
  return absl::InvalidArgumentError(
      absl::StrCat("found \"", part, "\"; ", kAccepted));
}

}  // namespace

absl::StatusOr<LinearCoefficients> ParseLinearCoefficients(
    absl::string_view text) {
  std::optional<double> base, prefill, decode, context;
  const std::pair<absl::string_view, std::optional<double>*> names[] = {
      {"base", &base},
      {"prefill", &prefill},
      {"decode", &decode},
      {"context", &context}};
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::pair<absl::string_view, absl::string_view> name_value =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    std::optional<double>* target = nullptr;
    for (const auto& [name, place] : names) {
      if (name == name_value.first) target = place;
    }
    double value = 0;
    // A NaN fails both comparisons.
    if (target == nullptr || target->has_value() ||
        !absl::SimpleAtod(name_value.second, &value) ||
        !(value >= 0 && value <= kMaxUs)) {
      return Refuse(part);
    }
    *target = value;
  }
  return LinearCoefficients{base.value_or(0), prefill.value_or(0),
                            decode.value_or(0), context.value_or(0)};
}

double LinearUs(const LinearCoefficients& coefficients, int64_t prefill_tokens,
                int64_t decode_requests, int64_t context_tokens) {
  return coefficients.base_us +
         coefficients.prefill_token_us * static_cast<double>(prefill_tokens) +
         coefficients.decode_request_us * static_cast<double>(decode_requests) +
         coefficients.context_token_us * static_cast<double>(context_tokens);
}

int64_t LinearCost::StepNs(const StepPlan& batch) {
  const BatchShape shape = BatchShape::Of(batch);
  return RoundNs(1e3 * LinearUs(coefficients_, shape.prefill_tokens,
                                shape.decode_requests, shape.ContextTokens()));
}

}  // namespace kvsim
