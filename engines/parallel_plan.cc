#include "engines/parallel_plan.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kvsim {
namespace {

constexpr int64_t kMaxSize = 65536;

absl::Status CheckSize(absl::string_view flag, int64_t value) {
  if (value >= 1 && value <= kMaxSize) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " ", value, ": must be from 1 to ", kMaxSize));
}

}  // namespace

std::string ParallelPlan::ToString() const {
  std::vector<std::string> parts;
  const auto add = [&parts](absl::string_view name, int64_t size) {
    if (size > 1) parts.push_back(absl::StrCat(name, size));
  };
  add("TP", tensor);
  add("PP", pipeline);
  add("DCP", decode_context);
  add("PCP", prefill_context);
  add("DP", data_attention);
  return parts.empty() ? "TP1" : absl::StrJoin(parts, " ");
}

absl::Status ValidateSizes(const ParallelPlan& plan) {
  const std::pair<absl::string_view, int64_t> sizes[] = {
      {"--tensor-parallel-size", plan.tensor},
      {"--pipeline-parallel-size", plan.pipeline},
      {"--decode-context-parallel-size", plan.decode_context},
      {"--prefill-context-parallel-size", plan.prefill_context},
      {"--data-parallel-size", plan.data_attention}};
  for (const auto& [flag, size] : sizes) {
    if (absl::Status status = CheckSize(flag, size); !status.ok()) {
      return status;
    }
  }
  if (plan.tensor % plan.decode_context != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--decode-context-parallel-size ", plan.decode_context,
                     ": must divide --tensor-parallel-size ", plan.tensor));
  }
  return absl::OkStatus();
}

absl::StatusOr<HeadShare> ShardKvHeads(int64_t kv_heads, int64_t tensor) {
  if (kv_heads >= tensor && kv_heads % tensor == 0) {
    return HeadShare{kv_heads / tensor, 1};
  }
  if (kv_heads > 0 && kv_heads < tensor && tensor % kv_heads == 0) {
    return HeadShare{1, tensor / kv_heads};
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--tensor-parallel-size ", tensor, " does not fit ",
                   kv_heads, " KV heads: one must be a multiple of the other"));
}

absl::StatusOr<int64_t> SplitHeads(int64_t heads, int64_t tensor,
                                   absl::string_view what) {
  if (heads > 0 && heads % tensor == 0) return heads / tensor;
  return absl::InvalidArgumentError(absl::StrCat("--tensor-parallel-size ",
                                                 tensor, " does not divide ",
                                                 heads, " ", what));
}

absl::StatusOr<std::vector<int64_t>> StageSizes(int64_t layers,
                                                int64_t pipeline) {
  if (pipeline > layers) {
    return absl::InvalidArgumentError(
        absl::StrCat("--pipeline-parallel-size ", pipeline,
                     ": the model has only ", layers, " layers"));
  }
  std::vector<int64_t> sizes(static_cast<size_t>(pipeline), layers / pipeline);
  const auto left = static_cast<size_t>(layers % pipeline);
  for (size_t i = 0; i < left; ++i) sizes[sizes.size() - 2 - i] += 1;
  return sizes;
}

}  // namespace kvsim
