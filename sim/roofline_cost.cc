#include "sim/roofline_cost.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "sim/round_ns.h"

namespace kvsim {
namespace {

// base^exponent by squaring.
double IntegerPower(double base, int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
}

absl::Status RequirePositive(const char* field, double value) {
  if (value > 0 && value < 1e30) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("field `", field, "`: found ", value,
                   "; accepted: a number above 0 and below 1e30"));
}

}  // namespace

absl::Status RooflineCost::Validate(const RooflineModel& model,
                                    const RooflineGpu& gpu) {
  const struct {
    const char* field;
    double value;
  } positive[] = {
      {"other_weight_bytes", model.other_weight_bytes},
      {"active_parameters", model.active_parameters},
      {"num_layers", static_cast<double>(model.num_layers)},
      {"hidden_size", static_cast<double>(model.hidden_size)},
      {"kv_bytes_per_token_per_rank", model.kv_bytes_per_token_per_rank},
      {"tensor_parallel", static_cast<double>(model.tensor_parallel)},
      {"memory_bytes_per_s", gpu.memory_bytes_per_s},
      {"peak_flops", gpu.peak_flops},
  };
  for (const auto& [field, value] : positive) {
    const absl::Status status = RequirePositive(field, value);
    if (!status.ok()) return status;
  }
  if (model.tensor_parallel > 1) {
    const absl::Status status =
        RequirePositive("link_bytes_per_s", gpu.link_bytes_per_s);
    if (!status.ok()) return status;
  }
  if (model.num_experts < 0 || model.experts_per_token < 0 ||
      model.experts_per_token > model.num_experts) {
    return absl::InvalidArgumentError(absl::StrCat(
        "field `experts_per_token`: found ", model.experts_per_token, " of ",
        model.num_experts, "; accepted: 0 to the number of experts"));
  }
  return absl::OkStatus();
}

RooflineCost::RooflineCost(const RooflineModel& model, const RooflineGpu& gpu,
                           const RooflineEfficiencies& efficiencies)
    : model_(model), gpu_(gpu), eta_(efficiencies) {
  const absl::Status status = Validate(model, gpu);
  KVSIM_CHECK(status.ok()) << std::string(status.message());
}

double RooflineCost::WeightBytes(int64_t routed_tokens) const {
  double bytes = model_.other_weight_bytes;
  if (model_.num_experts > 0) {
    const double missed_by_one =
        1.0 - static_cast<double>(model_.experts_per_token) /
                  static_cast<double>(model_.num_experts);
    bytes += model_.expert_weight_bytes *
             (1.0 - IntegerPower(missed_by_one, routed_tokens));
  }
  return bytes / static_cast<double>(model_.tensor_parallel);
}

double RooflineCost::Seconds(const Load& load) const {
  const auto tp = static_cast<double>(model_.tensor_parallel);
  const double flops_per_token = 2.0 * model_.active_parameters / tp;
  const double bytes = WeightBytes(load.routed_tokens) +
                       model_.kv_bytes_per_token_per_rank * load.decode_context;
  const double memory_s = bytes / (gpu_.memory_bytes_per_s * eta_.memory);
  const double decode_s =
      flops_per_token * load.decode_tokens / (gpu_.peak_flops * eta_.decode);
  const double prefill_s =
      flops_per_token * load.prefill_tokens / (gpu_.peak_flops * eta_.prefill);
  const auto layers = static_cast<double>(model_.num_layers);
  double layer_us = eta_.layer_us;
  if (model_.num_experts > 0) layer_us += eta_.expert_layer_us;
  double reduce_s = 0;
  if (model_.tensor_parallel > 1) {
    layer_us += eta_.parallel_layer_us;
    const double row_bytes = static_cast<double>(model_.hidden_size) * 2.0;
    const double reduced =
        2.0 * layers * load.decode_tokens * row_bytes * (2.0 * (tp - 1.0) / tp);
    reduce_s = reduced / (gpu_.link_bytes_per_s * eta_.link);
  }
  return std::max(memory_s, decode_s) + prefill_s + reduce_s +
         layers * layer_us * 1e-6;
}

int64_t RooflineCost::StepNs(const StepPlan& batch) {
  const BatchShape shape = BatchShape::Of(batch);
  Load load;
  load.decode_tokens = static_cast<double>(shape.decode_tokens);
  load.decode_context = static_cast<double>(shape.decode_context);
  load.prefill_tokens = static_cast<double>(shape.prefill_tokens);
  load.routed_tokens =
      shape.decode_tokens > 0 ? shape.decode_tokens : shape.prefill_tokens;
  return RoundNs(Seconds(load) * 1e9);
}

}  // namespace kvsim
