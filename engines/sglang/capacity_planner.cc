#include "engines/sglang/capacity_planner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engines/engine_settings.h"
#include "engines/sglang/pool_planner.h"

namespace kvsim::sglang {
namespace {

constexpr int64_t kChunkedPrefill = 8192;

absl::StatusOr<CacheType> CacheTypeOf(KvCacheDtype dtype) {
  switch (dtype) {
    case KvCacheDtype::kAuto:
      return CacheType::kAuto;
    case KvCacheDtype::kBf16:
    case KvCacheDtype::kFp16:
      return CacheType::kBf16;
    case KvCacheDtype::kFp8:
      return CacheType::kFp8;
    case KvCacheDtype::kNvfp4:
      return CacheType::kFp4;
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("--kv-cache-dtype ", kvsim::Name(dtype),
                       ": SGLang has auto, bfloat16, fp8 and nvfp4 (fp4)"));
  }
}

absl::StatusOr<Settings> SettingsOf(const CapacityQuestion& question) {
  Settings settings = SettingsOr<Settings>(question.engine_settings);
  FlagMerge merge("sglang");
  RefuseVllmFlags(question, merge);
  merge.Set("--pipeline-parallel-size", AskedSize(question.pipeline),
            int64_t{1}, &settings.pp_size);
  merge.Set("--tensor-parallel-size",
            AskedTensorRanks(question, settings.pp_size), int64_t{1},
            &settings.tp_size);
  merge.Set("--decode-context-parallel-size",
            AskedSize(question.decode_context), int64_t{1}, &settings.dcp_size);
  merge.Set("--block-size", AskedTokens(question.block_size),
            &settings.page_size);
  merge.Set("--max-model-len", AskedTokens(question.max_model_len),
            &settings.context_length);
  merge.Set("--max-num-seqs", question.max_num_seqs,
            &settings.max_running_requests);
  merge.Set("--max-num-batched-tokens", question.max_num_batched_tokens,
            &settings.chunked_prefill_size);
  merge.Set("--gpu-memory-utilization", question.gpu_memory_utilization,
            &settings.mem_fraction_static);
  const absl::StatusOr<CacheType> type = CacheTypeOf(question.kv_cache_dtype);
  if (!type.ok()) return type.status();
  merge.SetNamed("--kv-cache-dtype", *type, CacheType::kAuto, Name,
                 &settings.kv_cache_dtype);
  if (!merge.status().ok()) return merge.status();
  if (question.state_dtype.has_value()) {
    settings.mamba_ssm_dtype = question.state_dtype;
  }
  if (question.prefix_caching.has_value() && !*question.prefix_caching) {
    settings.disable_radix_cache = true;
  }
  if (!question.attention_backend.empty()) {
    settings.attention_backend = question.attention_backend;
  }
  if (absl::Status status = settings.Validate(); !status.ok()) return status;
  return settings;
}

// What the pools get, and how the rest of the card divides.
struct Memory {
  PoolMemory pools;
  std::vector<GpuRest> gpus;
  std::vector<Bytes> beyond;  // of the card, by the fraction
  double fraction = 0;
};

absl::StatusOr<Memory> MemoryOf(const CapacityQuestion& question,
                                const Settings& settings,
                                const ParallelPlan& parallel) {
  Memory memory;
  const auto stages = static_cast<size_t>(parallel.pipeline);
  if (question.num_gpu_blocks.has_value()) {
    const int64_t page = PageSize(settings, *question.model);
    const int64_t blocks = question.num_gpu_blocks->value();
    if (blocks < 1 || blocks > (int64_t{1} << 40) / page) {
      return absl::InvalidArgumentError(
          absl::StrCat("--num-gpu-blocks ", blocks,
                       ": must be from 1 to 2^40 / ", page, " pages"));
    }
    memory.pools.max_total_tokens = (blocks - 1) * page;
    return memory;
  }
  if (question.kv_memory.has_value()) {
    memory.pools.rest.assign(stages, *question.kv_memory);
    return memory;
  }
  if (!question.gpu.has_value() && !question.gpu_memory.has_value() &&
      settings.max_total_tokens.has_value()) {
    memory.pools.max_total_tokens = settings.max_total_tokens;
    return memory;
  }
  absl::StatusOr<std::vector<GpuRest>> gpus = RestOfGpus(question, parallel);
  if (!gpus.ok()) return gpus.status();
  memory.gpus = *std::move(gpus);
  const Bytes total = memory.gpus[0].total;
  memory.fraction = settings.mem_fraction_static.value_or(AutoMemFraction(
      total, settings.chunked_prefill_size.value_or(kChunkedPrefill),
      settings.tp_size * settings.pp_size));
  const Bytes beyond(static_cast<int64_t>(static_cast<double>(total.value()) *
                                          (1 - memory.fraction)));
  for (const GpuRest& gpu : memory.gpus) {
    memory.beyond.push_back(beyond);
    memory.pools.rest.push_back(gpu.rest - beyond);
  }
  return memory;
}

std::string WhatBinds(const CapacityQuestion& question, const Memory& memory) {
  if (question.num_gpu_blocks.has_value()) return "--num-gpu-blocks";
  if (question.kv_memory.has_value()) return "--kv-memory";
  return memory.gpus.empty() ? "--max-total-tokens" : "GPU memory";
}

}  // namespace

double AutoMemFraction(Bytes gpu_total, int64_t chunked_prefill_size,
                       int64_t gpus) {
  constexpr double kMiB = 1048576.0;
  const double total = static_cast<double>(gpu_total.value()) / kMiB;
  double reserved = 512 + 1.5 * static_cast<double>(std::max<int64_t>(
                                    chunked_prefill_size, 2048));
  reserved += static_cast<double>(gpus) / 8 * 1024;
  if (total > 60 * 1024) reserved = std::max(reserved, 10.0 * 1024);
  return std::max((total - reserved) / total, 0.0);
}

absl::StatusOr<PooledPlan> PlanCapacity(const CapacityQuestion& question) {
  const absl::StatusOr<Settings> settings = SettingsOf(question);
  if (!settings.ok()) return settings.status();
  PooledPlan planned;
  planned.parallel = {.tensor = settings->tp_size,
                      .pipeline = settings->pp_size,
                      .decode_context = settings->dcp_size};
  const absl::StatusOr<Memory> memory =
      MemoryOf(question, *settings, planned.parallel);
  if (!memory.ok()) return memory.status();
  absl::StatusOr<SglangPlan> plan = PlanPools(
      *question.model, question.draft_model, *settings, memory->pools);
  if (!plan.ok()) return plan.status();

  planned.pool = std::move(plan->pool);
  planned.pools = std::move(plan->pools);
  planned.rules = "main of 2026-07-20";
  planned.kv_cache_dtype = plan->kv_cache_dtype;
  planned.max_num_batched_tokens =
      settings->chunked_prefill_size.value_or(kChunkedPrefill);
  planned.max_num_seqs = std::max<int64_t>(plan->max_running_requests, 1);
  planned.binds = WhatBinds(question, *memory);
  if (!memory->gpus.empty()) {
    const size_t binding = planned.pool.binding_rank;
    planned.gpu = AccountsOf(memory->gpus[binding]);
    planned.gpu.insert(planned.gpu.begin(), {"beyond --mem-fraction-static",
                                             memory->beyond[binding], ""});
    if (!settings->mem_fraction_static.has_value()) {
      planned.pool.notes.push_back(absl::StrFormat(
          "--mem-fraction-static is taken as %.3f; the engine leaves more for "
          "CUDA graphs, by an amount that is not known",
          memory->fraction));
    }
  }
  return planned;
}

}  // namespace kvsim::sglang
