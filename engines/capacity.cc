#include "engines/capacity.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "base/text.h"
#include "engines/block_overhead.h"
#include "engines/pooled_capacity.h"
#include "engines/sequence_bytes.h"
#include "engines/vllm/model_planner.h"

namespace kvsim {
namespace {

constexpr Tokens kMaxContext{int64_t{1} << 40};

// An engine of pools beside each other.
bool IsPooled(const std::string& engine) {
  const std::vector<absl::string_view> engines = PooledEngines();
  return std::find(engines.begin(), engines.end(), engine) != engines.end();
}

absl::Status Validate(const CapacityQuestion& question) {
  if (question.engine != "vllm" && !IsPooled(question.engine)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--engine '", question.engine, "' is unknown; accepted: vllm, ",
        absl::StrJoin(PooledEngines(), ", ")));
  }
  for (Tokens context : question.contexts) {
    if (context < Tokens(1) || context > kMaxContext) {
      return absl::InvalidArgumentError(
          absl::StrCat("--context ", context.value(),
                       ": must be from 1 to 1099511627776 tokens"));
    }
  }
  if (question.shared_prefix < Tokens(0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--shared-prefix ", question.shared_prefix.value(),
                     ": must not be negative"));
  }
  return absl::OkStatus();
}

// "fp8"; "auto (bf16)" with what the engine makes of it.
std::string CacheDtypeText(const ModelSpec& model,
                           const vllm::Resolved& resolved) {
  const std::string name(Name(resolved.kv_cache_dtype));
  if (resolved.kv_cache_dtype != KvCacheDtype::kAuto) return name;
  for (const LayerSpec& layer : model.layers) {
    for (const AttentionSpec& attention : layer.attention) {
      if (attention.kind == AttentionKind::kCompressed) {
        return absl::StrCat(name, " (", Name(KvCacheDtype::kFp8DsMla), ")");
      }
    }
  }
  const DType dtype = model.quantization.kv_cache_dtype.value_or(model.dtype);
  return absl::StrCat(name, " (", Name(dtype), ")");
}

// GPUs beyond one engine run replicas of it.
absl::StatusOr<ParallelPlan> ChooseParallel(const CapacityQuestion& question) {
  ParallelPlan parallel = {.pipeline = question.pipeline,
                           .decode_context = question.decode_context,
                           .prefill_context = question.prefill_context};
  if (question.num_gpus.has_value() &&
      (*question.num_gpus < 1 || *question.num_gpus > 65536)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--num-gpus ", *question.num_gpus, ": must be from 1 to 65536"));
  }
  if (question.tensor.has_value()) {
    parallel.tensor = *question.tensor;
  } else if (question.num_gpus.has_value() && question.pipeline >= 1) {
    if (*question.num_gpus % question.pipeline != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--num-gpus ", *question.num_gpus, ": --pipeline-parallel-size ",
          question.pipeline, " does not divide it"));
    }
    parallel.tensor = *question.num_gpus / question.pipeline;
  }
  if (absl::Status status = ValidateSizes(parallel); !status.ok()) {
    return status;
  }
  const int64_t gpus = question.num_gpus.value_or(parallel.NumGpus());
  if (gpus % parallel.NumGpus() != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--num-gpus ", gpus, ": one engine (", parallel.ToString(), ") takes ",
        parallel.NumGpus(), " GPUs, which does not divide it"));
  }
  return parallel;
}

// The GPU of the binding rank, from top to bottom.
std::vector<MemoryAccount> AccountsOfGpu(const vllm::MemoryBudget& budget) {
  std::vector<MemoryAccount> accounts;
  const auto add = [&](absl::string_view name, Bytes bytes) {
    if (bytes != Bytes(0)) accounts.push_back({std::string(name), bytes, ""});
  };
  add("beyond the utilization", budget.gpu_total - budget.requested);
  add("weights", budget.weights);
  add("activations of the profiling run", budget.activations);
  add("CUDA context and communication", budget.non_torch);
  add("CUDA graphs", budget.cuda_graphs);
  add("non-KV memory, as given", budget.other_non_kv);
  if (budget.kv < Bytes(0)) add("missing", budget.kv);
  return accounts;
}

std::vector<MemoryAccount> WriteAccounts(const vllm::PlannedModel& planned,
                                         Tokens longest) {
  const PoolPlan& pool = planned.pool;
  const RankPool& rank = pool.ranks[pool.binding_rank];
  std::vector<MemoryAccount> accounts;
  if (!planned.budgets.empty()) {
    accounts = AccountsOfGpu(planned.budgets[pool.binding_rank]);
  }
  const Bytes used = rank.kv_memory - rank.remainder;
  accounts.push_back({"KV cache", rank.kv_memory, ""});
  const Bytes reserved =
      std::min(used, pool.bytes_per_block * pool.reserved_blocks.value());
  accounts.push_back({"null block", reserved, "KV cache"});
  accounts.push_back({"blocks for requests", used - reserved, "KV cache"});
  accounts.push_back({"remainder", rank.remainder, "KV cache"});
  accounts.push_back(
      {absl::StrCat("padding of one ", FormatCount(longest.value()),
                    "-token request"),
       PaddingOfRequest(pool, longest), "blocks for requests"});
  return accounts;
}

std::string WhatBinds(const CapacityQuestion& question, const PoolPlan& pool) {
  if (question.num_gpu_blocks.has_value()) return "--num-gpu-blocks";
  if (question.kv_memory.has_value()) return "--kv-memory";
  if (pool.ranks.size() == 1) return "GPU memory of every rank";
  return absl::StrCat("GPU memory of pipeline stage ", pool.binding_rank, " (",
                      pool.ranks[pool.binding_rank].num_layers, " layers)");
}

std::vector<int64_t> ResidentPerContext(const CapacityQuestion& question,
                                        const PoolPlan& pool,
                                        int64_t max_num_seqs) {
  std::vector<int64_t> resident;
  for (Tokens context : question.contexts) {
    resident.push_back(
        CountRequests(pool, context, question.shared_prefix, max_num_seqs)
            .resident);
  }
  return resident;
}

// Plans a changed question; a refusal of the flags becomes the note.
Alternative TryChange(std::string change, const CapacityQuestion& question,
                      const ParallelPlan& parallel) {
  Alternative alternative;
  alternative.change = std::move(change);
  alternative.num_gpus = parallel.NumGpus();
  const absl::StatusOr<vllm::Resolved> resolved = vllm::ResolveFlags(question);
  if (!resolved.ok()) {
    alternative.note = std::string(resolved.status().message());
    return alternative;
  }
  const absl::StatusOr<vllm::PlannedModel> planned =
      vllm::PlanModel(question, *resolved, parallel);
  if (!planned.ok()) {
    alternative.note = std::string(planned.status().message());
    return alternative;
  }
  const PoolPlan& pool = planned->pool;
  alternative.kv_memory = pool.ranks[pool.binding_rank].kv_memory;
  alternative.num_blocks = pool.num_blocks;
  alternative.resident =
      ResidentPerContext(question, pool, resolved->max_num_seqs);
  return alternative;
}

bool IsNarrow(KvCacheDtype dtype) {
  return dtype != KvCacheDtype::kAuto && dtype != KvCacheDtype::kBf16 &&
         dtype != KvCacheDtype::kFp16 && dtype != KvCacheDtype::kFp32;
}

// Context ranks: the most that work, from all tensor ranks downward.
Alternative TryContextParallel(const CapacityQuestion& question,
                               ParallelPlan parallel) {
  Alternative first_refusal;
  for (int64_t ranks = parallel.tensor; ranks > parallel.decode_context;
       --ranks) {
    if (parallel.tensor % ranks != 0) continue;
    parallel.decode_context = ranks;
    Alternative alternative =
        TryChange(absl::StrCat("--decode-context-parallel-size ", ranks),
                  question, parallel);
    if (alternative.note.empty()) return alternative;
    if (first_refusal.change.empty()) first_refusal = std::move(alternative);
  }
  return first_refusal;
}

// More GPUs in the engine: the next tensor size that the model allows.
Alternative TryMoreGpus(const CapacityQuestion& question,
                        ParallelPlan parallel) {
  const int64_t tensor = parallel.tensor;
  std::string why_not_one_more;
  for (int64_t next = tensor + 1; next <= 2 * tensor; ++next) {
    parallel.tensor = next;
    if (next % parallel.decode_context != 0) continue;
    Alternative alternative = TryChange(
        absl::StrCat("--tensor-parallel-size ", next), question, parallel);
    if (!alternative.note.empty()) {
      if (next == tensor + 1) why_not_one_more = alternative.note;
      continue;
    }
    if (next > tensor + 1) {
      absl::StrAppend(&alternative.change, " (one more GPU alone is of no use",
                      why_not_one_more.empty() ? "" : ": ", why_not_one_more,
                      ")");
    }
    return alternative;
  }
  return {.change = "one more GPU", .note = why_not_one_more};
}

std::vector<Alternative> TryAlternatives(const CapacityQuestion& question,
                                         const vllm::Resolved& resolved,
                                         const ParallelPlan& parallel) {
  std::vector<Alternative> alternatives;
  const bool auto_is_narrow =
      question.kv_cache_dtype == KvCacheDtype::kAuto &&
      question.model->quantization.kv_cache_dtype.has_value();
  // A fixed number of blocks hides what a smaller row or a GPU brings.
  if (question.num_gpu_blocks.has_value()) return alternatives;
  if (!IsNarrow(resolved.kv_cache_dtype) && !auto_is_narrow) {
    CapacityQuestion fp8 = question;
    fp8.kv_cache_dtype = KvCacheDtype::kFp8;
    alternatives.push_back(TryChange("--kv-cache-dtype fp8", fp8, parallel));
  }
  if (parallel.decode_context < parallel.tensor) {
    alternatives.push_back(TryContextParallel(question, parallel));
  }
  if (question.kv_memory.has_value()) {
    alternatives.push_back(
        {.change = "one more GPU",
         .note = "--kv-memory is given: give --gpu or --gpu-memory instead"});
  } else {
    alternatives.push_back(TryMoreGpus(question, parallel));
  }
  return alternatives;
}

// How many ranks hold the same bytes of one sequence.
void WarnOfCopies(const CapacityQuestion& question,
                  const ParallelPlan& parallel,
                  std::vector<std::string>& warnings) {
  int64_t latent_copies = 1;
  int64_t head_copies = 1;
  for (const LayerSpec& layer : question.model->layers) {
    for (const AttentionSpec& attention : layer.attention) {
      const bool latent = attention.kind == AttentionKind::kMla ||
                          attention.kind == AttentionKind::kCompressed;
      int64_t& copies = latent ? latent_copies : head_copies;
      const int64_t heads = latent ? 1 : attention.kv_heads;
      copies = std::max(copies, parallel.tensor / std::max<int64_t>(heads, 1));
    }
  }
  latent_copies /= parallel.decode_context;
  head_copies /= parallel.decode_context;
  if (latent_copies > 1) {
    warnings.push_back(absl::StrCat(
        "latents and index keys are whole on every tensor rank: the cluster "
        "stores ",
        latent_copies, " copies of each sequence"));
  }
  if (head_copies > 1) {
    warnings.push_back(
        absl::StrCat("fewer KV heads than tensor ranks: the cluster stores ",
                     head_copies, " copies of some heads"));
  }
}

// What the pool's blocks of recurrent states make impossible. The engine finds
// the first when it captures its CUDA graphs, after the lines of the pool.
void WarnOfStateBlocks(const vllm::Resolved& resolved,
                       const CapacityAnswer& answer,
                       std::vector<std::string>& warnings) {
  const PoolPlan& pool = answer.pool;
  if (!HoldsStates(pool)) return;
  if (answer.max_num_seqs > pool.num_blocks.value()) {
    warnings.push_back(absl::StrCat(
        "the engine refuses to capture CUDA graphs: max_num_seqs (",
        answer.max_num_seqs, ") exceeds available Mamba cache blocks (",
        pool.num_blocks.value(), "); --max-num-seqs ", pool.num_blocks.value(),
        " or less starts"));
  }
  if (resolved.prefix_caching &&
      pool.scheduler_block_tokens >= pool.max_model_len) {
    warnings.push_back(
        absl::StrCat("prefix caching cannot hit: hits are whole blocks of ",
                     FormatCount(pool.scheduler_block_tokens.value()),
                     " tokens, and no request is longer than ",
                     FormatCount(pool.max_model_len.value())));
  }
}

// An engine would accept such a request and wait for blocks for ever.
std::string NeverRuns(const Concurrency& count, const PoolPlan& pool) {
  return absl::StrCat(
      "a request of ", FormatCount(count.length.value()),
      " tokens never runs: it takes ", FormatCount(count.steady_blocks.value()),
      " blocks of the ", FormatCount(pool.UsableBlocks().value()),
      " that there are");
}

std::vector<std::string> Warnings(const CapacityQuestion& question,
                                  const vllm::Resolved& resolved,
                                  const CapacityAnswer& answer) {
  std::vector<std::string> warnings = question.notes;
  warnings.insert(warnings.end(), resolved.notes.begin(), resolved.notes.end());
  warnings.insert(warnings.end(), answer.pool.notes.begin(),
                  answer.pool.notes.end());
  WarnOfCopies(question, answer.parallel, warnings);
  WarnOfStateBlocks(resolved, answer, warnings);
  for (const ContextAnswer& context : answer.contexts) {
    const Concurrency& count = context.count;
    if (count.length > answer.pool.max_model_len) {
      warnings.push_back(absl::StrCat(
          FormatCount(count.length.value()), " tokens are more than the ",
          FormatCount(answer.pool.max_model_len.value()),
          " that the engine accepts: --max-model-len raises it"));
    }
    if (count.resident == 0 && count.length <= answer.pool.max_model_len &&
        !answer.pool.refused.has_value()) {
      warnings.push_back(NeverRuns(count, answer.pool));
    }
    if (count.sequence_limit_binds) {
      warnings.push_back(absl::StrCat("at ", FormatCount(count.length.value()),
                                      " tokens --max-num-seqs ",
                                      answer.max_num_seqs, " binds before the ",
                                      count.resident, " requests that fit"));
    }
  }
  if (question.index_key_heads.value_or(1) > 1) {
    warnings.push_back(absl::StrCat(
        "--index-key-heads ", *question.index_key_heads,
        " is an assumption: engines store one index key per token"));
  }
  if (question.gpu_memory.has_value() && !question.gpu.has_value()) {
    warnings.push_back(
        "--gpu-memory is taken as what the engine sees; a vendor's GB is more "
        "than that: --gpu NAME knows the difference");
  }
  return warnings;
}

// The pools at the ends of the memory's error band.
struct BandPools {
  PoolPlan low, high;
};

absl::StatusOr<BandPools> PlanBand(const CapacityQuestion& question,
                                   const vllm::Resolved& resolved,
                                   const vllm::PlannedModel& planned,
                                   const CapacityAnswer& answer) {
  BandPools pools = {planned.pool, planned.pool};
  if (answer.kv_band == Bytes(0)) return pools;
  auto shifted = vllm::PlanModel(question, resolved, answer.parallel,
                                 Bytes(-answer.kv_band.value()));
  if (!shifted.ok()) return shifted.status();
  pools.low = std::move(shifted->pool);
  shifted =
      vllm::PlanModel(question, resolved, answer.parallel, answer.kv_band);
  if (!shifted.ok()) return shifted.status();
  pools.high = std::move(shifted->pool);
  return pools;
}

void WarnOfTheBand(const BandPools& band, const PoolPlan& pool,
                   std::vector<std::string>& warnings) {
  if (band.low.refused.has_value() == band.high.refused.has_value()) return;
  warnings.push_back(absl::StrCat(
      "within the band of the modelled memory the engine starts or refuses to: "
      "the plan ",
      pool.refused.has_value() ? "is refused" : "starts",
      "; --kv-memory, --calibration or a shorter --max-model-len settles it"));
}

std::vector<ContextAnswer> AnswerContexts(const CapacityQuestion& question,
                                          const vllm::Resolved& resolved,
                                          const PoolPlan& pool,
                                          const BandPools& band,
                                          int64_t replicas) {
  std::vector<ContextAnswer> contexts;
  for (Tokens length : question.contexts) {
    const auto count = [&](const PoolPlan& plan) {
      return CountRequests(plan, length, question.shared_prefix,
                           resolved.max_num_seqs);
    };
    ContextAnswer context;
    context.count = count(pool);
    context.low = count(band.low);
    context.high = count(band.high);
    context.sequence_bytes = SequenceBytes(resolved.layout, length);
    context.cluster_resident = context.count.resident * replicas;
    contexts.push_back(context);
  }
  return contexts;
}

}  // namespace

absl::StatusOr<CapacityAnswer> AnswerCapacity(const CapacityQuestion& asked) {
  if (absl::Status status = Validate(asked); !status.ok()) return status;
  if (IsPooled(asked.engine)) return AnswerPooledCapacity(asked);
  absl::StatusOr<ParallelPlan> parallel = ChooseParallel(asked);
  if (!parallel.ok()) return parallel.status();
  const absl::StatusOr<vllm::Resolved> resolved = vllm::ResolveFlags(asked);
  if (!resolved.ok()) return resolved.status();
  CapacityQuestion question = asked;
  absl::StatusOr<vllm::PlannedModel> planned =
      vllm::PlanModel(question, *resolved, *parallel);
  if (!planned.ok()) return planned.status();
  if (question.contexts.empty()) {
    question.contexts = {planned->pool.max_model_len};
  }

  CapacityAnswer answer;
  answer.engine = question.engine;
  answer.engine_version = resolved->version;
  answer.parallel = *parallel;
  answer.num_gpus = question.num_gpus.value_or(parallel->NumGpus());
  answer.replicas = answer.num_gpus / parallel->NumGpus();
  answer.kv_cache_dtype = CacheDtypeText(*question.model, *resolved);
  answer.max_num_batched_tokens = resolved->max_num_batched_tokens;
  answer.max_num_seqs = resolved->max_num_seqs;
  if (!planned->budgets.empty()) {
    const auto& budget = planned->budgets[planned->pool.binding_rank];
    answer.kv_band = budget.band;
    answer.kv_band_basis = budget.band_basis;
  }
  const absl::StatusOr<BandPools> band =
      PlanBand(question, *resolved, *planned, answer);
  if (!band.ok()) return band.status();
  answer.pool = planned->pool;
  answer.low = EndOf(band->low);
  answer.high = EndOf(band->high);
  answer.contexts =
      AnswerContexts(question, *resolved, answer.pool, *band, answer.replicas);
  answer.accounts = WriteAccounts(
      *planned,
      *std::max_element(question.contexts.begin(), question.contexts.end()));
  answer.sequence_bytes_per_token = resolved->layout.BytesPerToken();
  answer.rank_bytes_per_token = PoolBytesPerToken(answer.pool);
  answer.fixed_blocks = FixedBlocks(answer.pool);
  answer.one_token_blocks = SteadyBlocks(answer.pool, Tokens(1));
  answer.binds = WhatBinds(question, answer.pool);
  answer.alternatives = TryAlternatives(question, *resolved, *parallel);
  answer.warnings = Warnings(question, *resolved, answer);
  WarnOfTheBand(*band, answer.pool, answer.warnings);
  return answer;
}

}  // namespace kvsim
