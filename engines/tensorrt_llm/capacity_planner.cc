#include "engines/tensorrt_llm/capacity_planner.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engines/engine_settings.h"
#include "engines/tensorrt_llm/pool_planner.h"

namespace kvsim::tensorrt_llm {
namespace {

absl::StatusOr<CacheType> CacheTypeOf(KvCacheDtype dtype) {
  switch (dtype) {
    case KvCacheDtype::kAuto:
      return CacheType::kAuto;
    case KvCacheDtype::kBf16:
    case KvCacheDtype::kFp16:
      return CacheType::kBf16;
    case KvCacheDtype::kFp8:
      return CacheType::kFp8;
    case KvCacheDtype::kInt8:
      return CacheType::kInt8;
    case KvCacheDtype::kNvfp4:
      return CacheType::kNvfp4;
    default:
      return absl::InvalidArgumentError(absl::StrCat(
          "--kv-cache-dtype ", kvsim::Name(dtype),
          ": TensorRT-LLM has auto, bfloat16, float16, fp8, int8 and nvfp4"));
  }
}

absl::StatusOr<Settings> SettingsOf(const CapacityQuestion& question) {
  Settings settings = SettingsOr<Settings>(question.engine_settings);
  FlagMerge merge("tensorrt-llm");
  RefuseVllmFlags(question, merge);
  merge.Unused("--decode-context-parallel-size", question.decode_context != 1);
  merge.Unused("--mamba-ssm-cache-dtype", question.state_dtype.has_value());
  merge.Set("--pipeline-parallel-size", AskedSize(question.pipeline),
            int64_t{1}, &settings.pp_size);
  merge.Set("--tensor-parallel-size",
            AskedTensorRanks(question, settings.pp_size), int64_t{1},
            &settings.tp_size);
  merge.Set("--max-model-len", AskedTokens(question.max_model_len),
            &settings.max_seq_len);
  merge.Set("--block-size", AskedTokens(question.block_size), int64_t{32},
            &settings.tokens_per_block);
  merge.Set("--max-num-seqs", question.max_num_seqs, int64_t{2048},
            &settings.max_batch_size);
  merge.Set("--max-num-batched-tokens", question.max_num_batched_tokens,
            int64_t{8192}, &settings.max_num_tokens);
  merge.Set("--gpu-memory-utilization", question.gpu_memory_utilization, 0.9,
            &settings.free_gpu_memory_fraction);
  const absl::StatusOr<CacheType> type = CacheTypeOf(question.kv_cache_dtype);
  if (!type.ok()) return type.status();
  merge.SetNamed("--kv-cache-dtype", *type, CacheType::kAuto, Name,
                 &settings.kv_cache_dtype);
  if (!merge.status().ok()) return merge.status();
  if (absl::Status status = settings.Validate(); !status.ok()) return status;
  return settings;
}

}  // namespace

absl::StatusOr<PooledPlan> PlanCapacity(const CapacityQuestion& question) {
  absl::StatusOr<Settings> settings = SettingsOf(question);
  if (!settings.ok()) return settings.status();
  PooledPlan planned;
  planned.parallel = {.tensor = settings->tp_size,
                      .pipeline = settings->pp_size};
  PoolMemory memory;
  planned.binds = "max_tokens";
  if (question.num_gpu_blocks.has_value()) {
    memory.num_blocks = question.num_gpu_blocks->value();
    planned.binds = "--num-gpu-blocks";
  } else if (question.kv_memory.has_value()) {
    memory.free = question.kv_memory;
    settings->free_gpu_memory_fraction = 1;
    planned.binds = "--kv-memory";
  } else if (question.gpu.has_value() || question.gpu_memory.has_value()) {
    const auto rests = RestOfGpus(question, planned.parallel);
    if (!rests.ok()) return rests.status();
    const GpuRest& gpu = (*rests)[0];
    memory.free = gpu.rest;
    planned.gpu = AccountsOf(gpu);
    planned.gpu.push_back(
        {"beyond the fraction of what is free",
         gpu.rest -
             Bytes(static_cast<int64_t>(settings->free_gpu_memory_fraction *
                                        static_cast<double>(gpu.rest.value()))),
         ""});
    planned.binds = "GPU memory";
  }
  absl::StatusOr<BlockPlan> plan =
      PlanBlocks(*question.model, *settings, memory);
  if (!plan.ok()) return plan.status();
  if (!planned.gpu.empty() && !question.non_kv_memory.has_value()) {
    plan->pool.notes.push_back(
        "activations and graphs are not counted: --non-kv-memory gives them");
  }
  planned.pool = std::move(plan->pool);
  planned.pools = std::move(plan->pools);
  planned.rules = "sources of late 2025 to mid 2026";
  planned.kv_cache_dtype = std::string(Name(settings->kv_cache_dtype));
  planned.max_num_batched_tokens = settings->max_num_tokens;
  planned.max_num_seqs = settings->max_batch_size;
  return planned;
}

}  // namespace kvsim::tensorrt_llm
