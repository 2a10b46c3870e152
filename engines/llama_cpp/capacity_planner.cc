#include "engines/llama_cpp/capacity_planner.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engines/engine_settings.h"
#include "engines/llama_cpp/pool_planner.h"

namespace kvsim::llama_cpp {
namespace {

// "bf16" and "fp16" are plain types here, "auto" is f16.
absl::StatusOr<CacheType> CacheTypeOf(KvCacheDtype dtype) {
  if (dtype == KvCacheDtype::kFp32) return CacheType::kF32;
  if (dtype == KvCacheDtype::kFp16) return CacheType::kF16;
  if (dtype == KvCacheDtype::kBf16) return CacheType::kBf16;
  absl::StatusOr<CacheType> type = ParseCacheType(kvsim::Name(dtype));
  if (type.ok()) return type;
  return absl::InvalidArgumentError(
      absl::StrCat("--kv-cache-dtype ", type.status().message()));
}

absl::StatusOr<Settings> SettingsOf(const CapacityQuestion& question) {
  Settings settings = SettingsOr<Settings>(question.engine_settings);
  FlagMerge merge("llama.cpp");
  RefuseVllmFlags(question, merge);
  merge.Unused("--num-gpu-blocks", question.num_gpu_blocks.has_value());
  merge.Unused("--block-size", question.block_size.has_value());
  merge.Unused("--tensor-parallel-size", question.tensor.has_value());
  merge.Unused("--pipeline-parallel-size", question.pipeline != 1);
  merge.Unused("--decode-context-parallel-size", question.decode_context != 1);
  merge.Unused("--gpu-memory-utilization",
               question.gpu_memory_utilization.has_value());
  merge.Unused("--mamba-ssm-cache-dtype", question.state_dtype.has_value());
  merge.Set("--max-model-len", AskedTokens(question.max_model_len), int64_t{0},
            &settings.ctx_size);
  merge.Set("--max-num-seqs", question.max_num_seqs, int64_t{1},
            &settings.parallel);
  merge.Set("--max-num-batched-tokens", question.max_num_batched_tokens,
            int64_t{2048}, &settings.batch_size);
  if (question.kv_cache_dtype != KvCacheDtype::kAuto) {
    const absl::StatusOr<CacheType> type = CacheTypeOf(question.kv_cache_dtype);
    if (!type.ok()) return type.status();
    for (CacheType* own : {&settings.cache_type_k, &settings.cache_type_v}) {
      merge.SetNamed("--kv-cache-dtype", *type, CacheType::kF16, Name, own);
    }
  }
  if (!merge.status().ok()) return merge.status();
  if (absl::Status status = settings.Validate(); !status.ok()) return status;
  return settings;
}

}  // namespace

absl::StatusOr<PooledPlan> PlanCapacity(const CapacityQuestion& question) {
  const absl::StatusOr<Settings> settings = SettingsOf(question);
  if (!settings.ok()) return settings.status();
  PooledPlan planned;
  std::optional<Bytes> memory = question.kv_memory;
  planned.binds = memory.has_value() ? "--kv-memory" : "the flags";
  const int64_t gpus = question.num_gpus.value_or(1);
  planned.parallel.pipeline = gpus;  // layers are split over the cards
  if (!memory.has_value() &&
      (question.gpu.has_value() || question.gpu_memory.has_value())) {
    const auto rests = RestOfGpus(question, ParallelPlan{});
    if (!rests.ok()) return rests.status();
    GpuRest all = (*rests)[0];
    all.total *= gpus;
    all.non_kv *= gpus;
    memory = all.total - all.weights - all.non_kv;
    planned.gpu = AccountsOf(all);
    planned.binds = "memory of all GPUs together";
  }
  absl::StatusOr<CachePlan> plan =
      PlanCaches(*question.model, question.draft_model, *settings, memory);
  if (!plan.ok()) return plan.status();
  if (!planned.gpu.empty()) {
    plan->pool.notes.push_back(
        "compute buffers are not counted: --non-kv-memory gives them");
  }
  planned.pool = std::move(plan->pool);
  planned.pools = std::move(plan->pools);
  planned.rules = "builds of 2025-08 to 2026-08";
  planned.kv_cache_dtype = absl::StrCat("K ", Name(settings->cache_type_k),
                                        ", V ", Name(settings->cache_type_v));
  planned.max_num_batched_tokens = settings->batch_size;
  planned.max_num_seqs = settings->parallel;
  return planned;
}

}  // namespace kvsim::llama_cpp
