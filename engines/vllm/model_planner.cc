#include "engines/vllm/model_planner.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "engines/vllm/capacity_log.h"
#include "engines/vllm/pool_planner.h"
#include "engines/vllm/spec_builder.h"
#include "engines/vllm/switch_settings.h"
#include "models/layout_builder.h"

namespace kvsim::vllm {
namespace {

// The engine's guess where neither flag nor config names a maximum length.
constexpr Tokens kAssumedLength{2048};

bool AnyAttention(const ModelSpec& model,
                  bool (*matches)(const AttentionSpec& attention)) {
  return std::any_of(model.layers.begin(), model.layers.end(),
                     [&](const LayerSpec& layer) {
                       return std::any_of(layer.attention.begin(),
                                          layer.attention.end(), matches);
                     });
}

bool IsSparseMla(const AttentionSpec& attention) {
  return attention.kind == AttentionKind::kMla &&
         attention.indexer.kind != IndexerKind::kNone;
}

bool IsChunked(const AttentionSpec& attention) {
  return attention.kind == AttentionKind::kChunkedLocal;
}

bool IsCompressed(const AttentionSpec& attention) {
  return attention.kind == AttentionKind::kCompressed;
}

// FlashMLA stores fp8 rows in a format of its own, FlashInfer plain ones. Sparse
// MLA runs on FlashInfer on data-centre Blackwell, compressed attention on
// consumer Blackwell; ROCm keeps plain rows; everything else runs on FlashMLA.
// A backend that is named goes before the GPU.
KvCacheDtype ResolveCacheDtype(const CapacityQuestion& question, int sm,
                               std::vector<std::string>& notes) {
  const KvCacheDtype asked = question.kv_cache_dtype;
  const std::string& backend = question.attention_backend;
  const bool consumer = sm == 120 || sm == 121;
  const bool sparse = AnyAttention(*question.model, IsSparseMla);
  const bool rocm = question.platform == Platform::kRocm ||
                    (question.gpu.has_value() && sm == 0);
  if (asked == KvCacheDtype::kAuto && sparse && consumer && !rocm) {
    return KvCacheDtype::kFp8DsMla;
  }
  if (asked != KvCacheDtype::kFp8 || rocm) return asked;
  if (AnyAttention(*question.model, IsCompressed)) {
    return consumer ? KvCacheDtype::kFp8 : KvCacheDtype::kFp8DsMla;
  }
  if (!sparse) return asked;
  if (!backend.empty() && !consumer) {
    return absl::StrContains(backend, "FLASHINFER") ||
                   absl::StrContains(backend, "ROCM")
               ? KvCacheDtype::kFp8
               : KvCacheDtype::kFp8DsMla;
  }
  if (sm == 100 || sm == 103) return KvCacheDtype::kFp8;
  if (sm == 0) {
    notes.push_back(
        "fp8 rows of sparse MLA are taken as fp8_ds_mla (FlashMLA, Hopper); on "
        "data-centre Blackwell FlashInfer keeps plain fp8 rows: name the GPU "
        "with --gpu");
  }
  return KvCacheDtype::kFp8DsMla;
}

absl::Status ResolveMemory(const CapacityQuestion& question,
                           Resolved& resolved) {
  if (question.gpu.has_value()) resolved.sm = question.gpu->sm;
  if (question.gpu_memory.has_value()) {
    resolved.gpu_total = *question.gpu_memory;
  } else if (question.gpu.has_value()) {
    resolved.gpu_total = question.gpu->engine_total;
  }
  const bool cache_given = question.kv_memory.has_value() ||
                           !question.kv_memory_ranks.empty() ||
                           question.num_gpu_blocks.has_value();
  if (cache_given && question.kv_memory.has_value() &&
      *question.kv_memory < Bytes(0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--kv-memory ", question.kv_memory->value(), ": must not be negative"));
  }
  if (!cache_given && !question.gpu.has_value() &&
      !question.gpu_memory.has_value()) {
    return absl::InvalidArgumentError(
        "no memory is given: name a card with --gpu, its size with "
        "--gpu-memory, or the cache's with --kv-memory or --num-gpu-blocks");
  }
  resolved.utilization = question.gpu_memory_utilization.value_or(
      resolved.switches.default_utilization);
  return absl::OkStatus();
}

// The flag, else the config's maximum, else the longest context asked for.
absl::Status ResolveLength(const CapacityQuestion& question,
                           Resolved& resolved) {
  const ModelSpec& model = *question.model;
  Tokens length(model.max_position_embeddings);
  if (length == Tokens(0)) {
    for (Tokens context : question.contexts) length = std::max(length, context);
  }
  if (length == Tokens(0) && !question.max_model_len.has_value()) {
    length = kAssumedLength;
    resolved.notes.push_back(absl::StrCat(
        "the config names no maximum length: the engine assumes ",
        FormatCount(length.value()), " tokens; --max-model-len raises it"));
  }
  resolved.max_model_len = question.max_model_len.value_or(length);
  return absl::OkStatus();
}

absl::Status ResolveBatch(const CapacityQuestion& question,
                          Resolved& resolved) {
  const BatchDefaults defaults =
      resolved.switches.previous_engine
          ? PreviousDefaultBatch(resolved.max_model_len.value())
          : DefaultBatch(resolved.gpu_total, resolved.sm);
  int64_t batch = defaults.max_num_batched_tokens;
  // Without chunks a prompt must fit into one batch.
  if (!question.chunked_prefill) {
    batch = std::max(resolved.max_model_len.value(), int64_t{2048});
  }
  resolved.max_num_batched_tokens =
      question.max_num_batched_tokens.value_or(batch);
  resolved.max_num_seqs = question.max_num_seqs.value_or(defaults.max_num_seqs);
  if (resolved.max_num_seqs < 1 || resolved.max_num_seqs > (1 << 24)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--max-num-seqs ", resolved.max_num_seqs,
                     ": must be from 1 to ", 1 << 24));
  }
  return absl::OkStatus();
}

// Families whose MTP drafter reads the model's own cache (Gemma 4), or whose
// config says nothing of the drafter's layers.
bool DraftsWithoutCache(const ModelSpec& model) {
  return absl::StartsWith(model.model_type, "gemma4") ||
         absl::StartsWith(model.model_type, "qwen4_exp");
}

bool UsesMtpLayers(const CapacityQuestion& question) {
  return question.speculative_tokens > 0 &&
         question.speculative_method == SpeculativeMethod::kMtp;
}

absl::Status ResolveDraft(const CapacityQuestion& question,
                          Resolved& resolved) {
  if (question.speculative_tokens == 0 ||
      question.speculative_method != SpeculativeMethod::kDraftModel) {
    return absl::OkStatus();
  }
  if (question.draft_model == nullptr) {
    return absl::InvalidArgumentError(
        "the drafter keeps a cache of its own: --draft-model names its config");
  }
  LayoutOptions options;
  options.kv_cache_dtype = question.draft_kv_cache_dtype;
  absl::StatusOr<CacheLayout> layout =
      BuildCacheLayout(*question.draft_model, options);
  if (!layout.ok()) return layout.status();
  resolved.draft_layout = *std::move(layout);
  return absl::OkStatus();
}

absl::Status ResolveLayout(const CapacityQuestion& question,
                           Resolved& resolved) {
  LayoutOptions options;
  options.kv_cache_dtype = resolved.kv_cache_dtype;
  options.index_key_heads = question.index_key_heads;
  options.index_key_dtype = question.index_key_dtype;
  options.state_dtype = question.state_dtype;
  options.conv_state_dtype = question.conv_state_dtype;
  options.speculative_tokens = question.speculative_tokens;
  options.mtp_layers = UsesMtpLayers(question);
  absl::StatusOr<CacheLayout> layout =
      BuildCacheLayout(resolved.model, options);
  if (!layout.ok()) return layout.status();
  resolved.layout = *std::move(layout);
  if (options.mtp_layers && resolved.model.mtp_layers.empty() &&
      !DraftsWithoutCache(resolved.model)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--num-speculative-tokens ", question.speculative_tokens, ": ",
        resolved.model.name, " has no multi-token-prediction layers"));
  }
  return ResolveDraft(question, resolved);
}

// The mode of states while prefixes are cached.
StateMode CachingMode(const CapacityQuestion& question, Resolved& resolved) {
  const bool can_keep_all = CanKeepAllStates(resolved.model);
  const bool early = !resolved.switches.hybrid_prefix_caching;
  StateMode mode = question.state_mode.value_or(StateMode::kNone);
  if (mode == StateMode::kNone) {
    mode = early && can_keep_all ? StateMode::kAll : StateMode::kAlign;
  }
  if (mode == StateMode::kAll && !can_keep_all) {
    resolved.notes.push_back(
        "--mamba-cache-mode all: the engine takes align, because the kernels "
        "of these states keep none inside a batch");
    mode = StateMode::kAlign;
  }
  return mode;
}

// The model as the flags change it, and how its states are kept.
void ResolveModel(const CapacityQuestion& question, Resolved& resolved) {
  resolved.model = *question.model;
  // Weights of 32 bits are served in 16 unless --dtype says otherwise.
  if (resolved.model.dtype == DType::kFp32) resolved.model.dtype = DType::kBf16;
  resolved.model.dtype = question.dtype.value_or(resolved.model.dtype);
  const bool hybrid = HasRecurrentState(resolved.model);
  resolved.prefix_caching = question.prefix_caching.value_or(
      !hybrid || resolved.switches.hybrid_prefix_caching);
  const StateMode mode = CachingMode(question, resolved);
  resolved.state_mode = resolved.prefix_caching ? mode : StateMode::kNone;
  if (hybrid && !question.prefix_caching.has_value()) {
    resolved.notes.push_back(
        absl::StrCat("prefix caching of recurrent states is taken as ",
                     resolved.prefix_caching ? "on" : "off",
                     ", this version's default: --enable-prefix-caching or "
                     "--no-enable-prefix-caching decides"));
  }
}

// Query heads are never replicated.
absl::Status CheckQueryHeads(const ModelSpec& model, int64_t ranks) {
  for (const LayerSpec& layer : model.layers) {
    for (const AttentionSpec& attention : layer.attention) {
      absl::Status status =
          SplitHeads(attention.query_heads, ranks, "attention heads").status();
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

// Grouped heads can be sharded over tokens only where they are replicated.
absl::Status CheckContextRanks(const ModelSpec& model,
                               const ParallelPlan& parallel) {
  if (parallel.decode_context == 1) return absl::OkStatus();
  for (const LayerSpec& layer : model.layers) {
    for (const AttentionSpec& attention : layer.attention) {
      if (attention.kind == AttentionKind::kMla) continue;
      const int64_t copies = parallel.tensor / attention.kv_heads;
      if (copies >= parallel.decode_context) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "--decode-context-parallel-size ", parallel.decode_context, ": ",
          attention.kv_heads, " KV heads on ", parallel.tensor,
          " tensor ranks leave ", std::max<int64_t>(copies, 1),
          " copies to share a sequence"));
    }
  }
  return absl::OkStatus();
}

BudgetInput BudgetInputOf(const CapacityQuestion& question,
                          const Resolved& resolved,
                          const ParallelPlan& parallel) {
  BudgetInput input;
  input.gpu_total = resolved.gpu_total;
  input.sm = resolved.sm;
  input.fast_link = !question.gpu.has_value() || HasFastLink(*question.gpu);
  input.utilization = resolved.utilization;
  input.parallel = parallel;
  input.weight_bytes = question.weight_bytes;
  input.non_kv_memory = question.non_kv_memory;
  input.max_num_batched_tokens = resolved.max_num_batched_tokens;
  input.max_num_seqs = resolved.max_num_seqs;
  input.mtp_layers = UsesMtpLayers(question);
  input.switches = resolved.switches;
  return input;
}

// Every rank's memory: the least of a stage counts.
absl::Status FillRankMemory(const CapacityQuestion& question,
                            const ParallelPlan& parallel, PoolInput& input) {
  const std::vector<Bytes>& ranks = question.kv_memory_ranks;
  const auto per_stage = static_cast<size_t>(parallel.tensor);
  if (ranks.size() != per_stage * input.stage_layers.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--kv-memory: ", ranks.size(), " sizes for the ",
                     per_stage * input.stage_layers.size(),
                     " ranks of one engine (", parallel.ToString(), ")"));
  }
  input.rank_memory = ranks;
  for (size_t first = 0; first < ranks.size(); first += per_stage) {
    const auto stage = ranks.begin() + static_cast<ptrdiff_t>(first);
    input.kv_memory.push_back(
        *std::min_element(stage, stage + parallel.tensor));
  }
  return absl::OkStatus();
}

// Memory of every stage: given, or what the budget leaves.
absl::Status FillMemory(const CapacityQuestion& question,
                        const Resolved& resolved, const ParallelPlan& parallel,
                        Bytes kv_shift, PoolInput& input,
                        std::vector<MemoryBudget>& budgets) {
  input.num_blocks_override = question.num_gpu_blocks;
  if (!question.kv_memory_ranks.empty()) {
    return FillRankMemory(question, parallel, input);
  }
  if (question.kv_memory.has_value()) {
    input.kv_memory.assign(input.stage_layers.size(), *question.kv_memory);
    return absl::OkStatus();
  }
  if (resolved.gpu_total == Bytes(0) && question.num_gpu_blocks.has_value()) {
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<MemoryBudget>> stages =
      BudgetStages(resolved.model, BudgetInputOf(question, resolved, parallel));
  if (!stages.ok()) return stages.status();
  budgets = *std::move(stages);
  for (const MemoryBudget& budget : budgets) {
    input.kv_memory.push_back(budget.kv + kv_shift);
  }
  return absl::OkStatus();
}

SpecRules RulesOf(const CapacityQuestion& question, const Resolved& resolved,
                  const ParallelPlan& parallel) {
  return {.tensor = parallel.tensor,
          .block_size = question.block_size,
          .sm = resolved.sm,
          .platform = question.platform,
          .attention_backend = question.attention_backend,
          .state_mode = resolved.state_mode,
          .state_block = question.state_block};
}

// The draft model's caches behind the model's, in blocks of the same tokens.
absl::Status AppendDraft(const CapacityQuestion& question,
                         const Resolved& resolved, SpecRules rules,
                         std::vector<LayerKvSpec>& caches) {
  if (resolved.draft_layout.layers.empty()) return absl::OkStatus();
  for (const LayerKvSpec& cache : caches) {
    if (KeepsAllHistory(cache.spec.kind)) {
      rules.block_size = cache.spec.block_tokens;
    }
  }
  rules.tensor = question.draft_tensor.value_or(rules.tensor);
  absl::StatusOr<std::vector<LayerKvSpec>> draft =
      BuildKvSpecs(*question.draft_model, resolved.draft_layout, rules);
  if (!draft.ok()) return draft.status();
  const auto first = static_cast<int32_t>(resolved.model.layers.size() +
                                          resolved.model.mtp_layers.size());
  for (LayerKvSpec& cache : *draft) {
    cache.layer += first;
    caches.push_back(std::move(cache));
  }
  return absl::OkStatus();
}

// Tables beside those of the layers: index keys that stand for several tokens
// keep the unfinished group of each request in a block of its own; models with
// embeddings of preceding tokens keep those as a state.
std::vector<ExtraGroup> ExtraGroupsOf(const ModelSpec& model,
                                      const Resolved& resolved,
                                      const CapacityQuestion& question) {
  std::vector<ExtraGroup> extra;
  if (absl::StartsWith(model.model_type, "qwen4_exp")) {
    KvSpec state;
    state.kind = SpecKind::kState;
    extra.push_back(
        {"mamba",
         DemandOf(state, {.state_mode = resolved.state_mode,
                          .speculative_tokens = question.speculative_tokens})});
  }
  const bool pooled = AnyAttention(model, [](const AttentionSpec& attention) {
    return attention.indexer.kind != IndexerKind::kNone &&
           attention.indexer.tokens_per_key > 1;
  });
  if (pooled) {
    BlockDemand tail;
    tail.kind = BlockDemand::Kind::kPerSequence;
    tail.constant_worst = Blocks(1);
    tail.constant_steady = Blocks(1);
    extra.push_back({"index_tail", tail});
  }
  return extra;
}

// Weights beyond the share of memory that the engine may use: it never gets as
// far as planning a pool.
void RefuseTooLargeWeights(const MemoryBudget& budget, PoolPlan& pool) {
  if (budget.weights <= budget.requested) return;
  StartRefusal refusal;
  refusal.needed = budget.weights;
  refusal.available = budget.requested;
  refusal.message = absl::StrCat("the weights take ", FormatGiB(budget.weights),
                                 " on every rank of stage ", budget.stage, ", ",
                                 FormatGiB(budget.weights - budget.requested),
                                 " more than the ", FormatGiB(budget.requested),
                                 " that --gpu-memory-utilization leaves of ",
                                 FormatGiB(budget.gpu_total));
  pool.refused = std::move(refusal);
}

}  // namespace

absl::StatusOr<Resolved> ResolveFlags(const CapacityQuestion& question) {
  absl::StatusOr<VersionedSwitches> versioned =
      SwitchesFor(question.engine_version);
  if (!versioned.ok()) return versioned.status();
  Resolved resolved;
  resolved.switches = versioned->switches;
  resolved.version = versioned->version;
  resolved.notes = versioned->notes;
  for (const std::string& setting : question.engine_switches) {
    absl::Status status = SetSwitch(setting, &resolved.switches);
    if (!status.ok()) return status;
  }
  if (question.previous_engine.has_value()) {
    resolved.switches.previous_engine = *question.previous_engine;
  }
  ResolveModel(question, resolved);
  absl::Status status = ResolveMemory(question, resolved);
  if (status.ok()) status = ResolveLength(question, resolved);
  if (status.ok()) status = ResolveBatch(question, resolved);
  if (!status.ok()) return status;
  resolved.kv_cache_dtype =
      ResolveCacheDtype(question, resolved.sm, resolved.notes);
  const bool chunked = AnyAttention(*question.model, IsChunked);
  resolved.hybrid_manager = question.hybrid_manager.value_or(!chunked);
  if (chunked && !question.hybrid_manager.has_value()) {
    resolved.notes.push_back(
        "chunked local attention: the engine turns its hybrid manager off, so "
        "every layer is stored as full history");
  }
  if (status = ResolveLayout(question, resolved); !status.ok()) return status;
  return resolved;
}

namespace {

absl::StatusOr<PlannedModel> PlanLength(const CapacityQuestion& question,
                                        const Resolved& resolved,
                                        const ParallelPlan& parallel,
                                        Bytes kv_shift) {
  const ModelSpec& model = resolved.model;
  absl::Status status = ValidateSizes(parallel);
  if (status.ok()) status = CheckQueryHeads(model, parallel.tensor);
  if (status.ok()) status = CheckContextRanks(model, parallel);
  if (!status.ok()) return status;
  absl::StatusOr<std::vector<int64_t>> stages =
      StageSizes(static_cast<int64_t>(model.layers.size()), parallel.pipeline);
  if (!stages.ok()) return stages.status();
  const SpecRules rules = RulesOf(question, resolved, parallel);
  absl::StatusOr<std::vector<LayerKvSpec>> caches =
      BuildKvSpecs(model, resolved.layout, rules);
  if (!caches.ok()) return caches.status();
  status = AppendDraft(question, resolved, rules, *caches);
  if (!status.ok()) return status;

  PlannedModel planned;
  PoolInput input;
  input.caches = *std::move(caches);
  input.natural_block =
      rules.block_size.value_or(DefaultBlockTokens(model, rules));
  input.extra_groups = ExtraGroupsOf(model, resolved, question);
  input.num_workers = parallel.tensor * parallel.pipeline;
  input.swap_space = question.swap_space;
  input.stage_layers = *std::move(stages);
  input.max_model_len = resolved.max_model_len;
  input.max_num_batched_tokens = Tokens(resolved.max_num_batched_tokens);
  input.async_scheduling = question.async_scheduling;
  input.hybrid_manager = resolved.hybrid_manager;
  input.demand = {.decode_context = parallel.decode_context,
                  .state_mode = resolved.state_mode,
                  .speculative_tokens = question.speculative_tokens};
  input.switches = resolved.switches;
  status = FillMemory(question, resolved, parallel, kv_shift, input,
                      planned.budgets);
  if (!status.ok()) return status;
  absl::StatusOr<PoolPlan> pool = resolved.switches.previous_engine
                                      ? PlanPreviousPool(input)
                                      : PlanPool(input);
  if (!pool.ok()) return pool.status();
  planned.pool = *std::move(pool);
  for (const MemoryBudget& budget : planned.budgets) {
    RefuseTooLargeWeights(budget, planned.pool);
  }
  return planned;
}

}  // namespace

absl::StatusOr<PlannedModel> PlanModel(const CapacityQuestion& question,
                                       const Resolved& resolved,
                                       const ParallelPlan& parallel,
                                       Bytes kv_shift) {
  absl::StatusOr<PlannedModel> planned =
      PlanLength(question, resolved, parallel, kv_shift);
  if (!planned.ok() || !question.fit_max_model_len) return planned;
  const Tokens asked = resolved.max_model_len;
  const std::optional<StartRefusal> refused = planned->pool.refused;
  if (!refused.has_value()) {
    WriteFittedLength(asked, asked, Bytes(0), planned->pool);
    return planned;
  }
  if (refused->max_len_that_fits == Tokens(0)) return planned;
  Resolved fitted = resolved;
  fitted.max_model_len = refused->max_len_that_fits;
  planned = PlanLength(question, fitted, parallel, kv_shift);
  if (planned.ok()) {
    WriteFittedLength(asked, fitted.max_model_len, refused->available,
                      planned->pool);
  }
  return planned;
}

}  // namespace kvsim::vllm
