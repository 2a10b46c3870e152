#include "engines/pooled_engine.h"

#include "absl/status/status.h"
#include "engines/vllm/memory_budget.h"

namespace kvsim {

absl::StatusOr<std::vector<GpuRest>> RestOfGpus(
    const CapacityQuestion& question, const ParallelPlan& parallel) {
  if (!question.gpu.has_value() && !question.gpu_memory.has_value()) {
    return absl::InvalidArgumentError(
        "no memory is given: name a card with --gpu, its size with "
        "--gpu-memory, or the cache's with --kv-memory or --num-gpu-blocks");
  }
  // Weights are split over ranks in the same way by every engine.
  vllm::BudgetInput input;
  input.gpu_total = question.gpu_memory.has_value()
                        ? *question.gpu_memory
                        : question.gpu->engine_total;
  input.utilization = 1;
  input.parallel = parallel;
  input.weight_bytes = question.weight_bytes;
  input.non_kv_memory = question.non_kv_memory.value_or(Bytes(0));
  const absl::StatusOr<std::vector<vllm::MemoryBudget>> stages =
      vllm::BudgetStages(*question.model, input);
  if (!stages.ok()) return stages.status();
  std::vector<GpuRest> rests;
  for (const vllm::MemoryBudget& stage : *stages) {
    rests.push_back({.total = stage.gpu_total,
                     .weights = stage.weights,
                     .non_kv = stage.other_non_kv,
                     .rest = stage.kv});
  }
  return rests;
}

std::vector<MemoryAccount> AccountsOf(const GpuRest& rest) {
  std::vector<MemoryAccount> accounts = {{"weights", rest.weights, ""}};
  if (rest.non_kv != Bytes(0)) {
    accounts.push_back({"non-KV memory, as given", rest.non_kv, ""});
  }
  return accounts;
}

void RefuseVllmFlags(const CapacityQuestion& question, FlagMerge& merge) {
  merge.Unused("--kv-memory of every rank", !question.kv_memory_ranks.empty());
  merge.Unused("--engine-version", !question.engine_version.empty());
  merge.Unused("--engine-switch", !question.engine_switches.empty());
  merge.Unused("--index-key-heads", question.index_key_heads.has_value());
  merge.Unused("--index-key-dtype", question.index_key_dtype.has_value());
  merge.Unused("--mamba-cache-dtype", question.conv_state_dtype.has_value());
  merge.Unused("--disable-hybrid-kv-cache-manager",
               question.hybrid_manager.has_value());
  merge.Unused("--mamba-cache-mode", question.state_mode.has_value());
  merge.Unused("--num-speculative-tokens", question.speculative_tokens > 0);
  merge.Unused("--prefill-context-parallel-size",
               question.prefill_context != 1);
}

std::optional<int64_t> AskedTensorRanks(const CapacityQuestion& question,
                                        int64_t pipeline) {
  if (question.tensor.has_value() || !question.num_gpus.has_value() ||
      pipeline < 1 || *question.num_gpus % pipeline != 0) {
    return question.tensor;
  }
  return *question.num_gpus / pipeline;
}

std::optional<int64_t> AskedTokens(const std::optional<Tokens>& tokens) {
  return tokens.has_value() ? std::optional<int64_t>(tokens->value())
                            : std::nullopt;
}

std::optional<int64_t> AskedSize(int64_t size) {
  return size == 1 ? std::nullopt : std::optional<int64_t>(size);
}

}  // namespace kvsim
