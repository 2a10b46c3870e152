#include "engines/sglang/pool_planner.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "engines/parallel_plan.h"
#include "engines/sglang/block_plan.h"
#include "engines/sglang/buffers.h"
#include "engines/sglang/capacity_log.h"
#include "engines/sglang/row_bytes.h"
#include "engines/sglang/token_budget.h"

namespace kvsim::sglang {
namespace {

constexpr int64_t kCompressedPage = 256;
constexpr int64_t kSparsePage = 64;

// The rows of a drafter that is another model, as layers beyond the model's.
absl::Status AppendDraft(const ModelSpec& draft, const Settings& settings,
                         std::vector<RankLayer>& layers) {
  absl::StatusOr<std::vector<RankLayer>> own =
      LayersOnRank(draft, {.tensor = settings.AttentionRanks()});
  if (!own.ok()) return own.status();
  const auto first = static_cast<int32_t>(layers.size());
  for (RankLayer& layer : *own) {
    layer.is_draft = true;
    layer.layer += first;
    layers.push_back(std::move(layer));
  }
  return absl::OkStatus();
}

// The budget's input for every pipeline stage. Drafts run on the last.
absl::StatusOr<std::vector<BudgetInput>> StageInputs(const ModelSpec& model,
                                                     const ModelSpec* draft,
                                                     const Settings& settings) {
  absl::StatusOr<std::vector<RankLayer>> layers = LayersOnRank(
      model, {.tensor = settings.AttentionRanks(),
              .index_keys_on_shared_layers = true,
              .mtp_layers = settings.speculative &&
                            settings.speculative_draft_model_path.empty() &&
                            draft == nullptr});
  if (!layers.ok()) return layers.status();
  if (draft != nullptr) {
    absl::Status status = AppendDraft(*draft, settings, *layers);
    if (!status.ok()) return status;
  }
  const absl::StatusOr<std::vector<int64_t>> sizes =
      StageSizes(static_cast<int64_t>(model.layers.size()), settings.pp_size);
  if (!sizes.ok()) return sizes.status();
  std::vector<BudgetInput> inputs;
  size_t next = 0;
  for (const int64_t size : *sizes) {
    BudgetInput input;
    input.type = ResolveCacheType(settings, model);
    input.page_size = PageSize(settings, model);
    input.context_length =
        settings.context_length.value_or(model.max_position_embeddings);
    input.settings = settings;
    const size_t end = inputs.size() + 1 == sizes->size()
                           ? layers->size()
                           : next + static_cast<size_t>(size);
    input.layers.assign(layers->begin() + static_cast<std::ptrdiff_t>(next),
                        layers->begin() + static_cast<std::ptrdiff_t>(end));
    next = end;
    inputs.push_back(std::move(input));
  }
  return inputs;
}

// As the engine's framework spells it.
std::string DtypeText(const BudgetInput& input, const ModelSpec& model) {
  const CacheType type = input.type;
  if (HasCompressedRows(input)) return "fp8_ds_mla";  // whatever is asked
  if (type == CacheType::kFp8) return "float8_e4m3fn";
  if (type == CacheType::kBf16 && model.dtype == DType::kFp16) {
    return "float16";
  }
  return std::string(Name(type));
}

bool HasRowsOfTokens(const BudgetInput& input) {
  return std::any_of(input.layers.begin(), input.layers.end(),
                     [](const RankLayer& layer) {
                       return layer.HasRows() || !layer.compressed.empty();
                     });
}

absl::Status CheckMemory(const std::vector<BudgetInput>& stages,
                         const PoolMemory& memory) {
  const bool needs_tokens = HasRowsOfTokens(stages[0]);
  const bool needs_slots = SlotBytes(stages[0]) > Bytes(0);
  const bool has_rest = memory.rest.size() == stages.size();
  if (!memory.rest.empty() && !has_rest) {
    return absl::InvalidArgumentError(
        absl::StrCat(memory.rest.size(), " memories for ", stages.size(),
                     " pipeline stages"));
  }
  if (has_rest ||
      (needs_tokens ? memory.max_total_tokens.has_value()
                    : needs_slots && memory.mamba_slots.has_value())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "no memory is given: the bytes left for the pools, or "
      "--max-total-tokens");
}

// Tokens alone say nothing about slots: without memory, a given number or a
// flag that sizes them, states are left out. True when they are.
bool LeaveOutStates(const Settings& settings, const PoolMemory& memory,
                    std::vector<BudgetInput>& stages) {
  const bool known = !memory.rest.empty() || memory.mamba_slots.has_value() ||
                     SlotsByFlag(settings).has_value();
  bool left_out = false;
  for (BudgetInput& input : stages) {
    for (RankLayer& layer : input.layers) {
      if (known || !layer.HasState()) continue;
      layer.conv = layer.state = 0;
      left_out = true;
    }
  }
  return left_out;
}

// Tokens of one rank that every stage has room for, and the stage that has
// least.
struct Binding {
  size_t stage = 0;
  int64_t tokens = 0;
  int64_t slots = 0;
};

Binding FindBinding(const std::vector<BudgetInput>& stages,
                    const PoolMemory& memory) {
  Binding binding;
  binding.tokens = memory.max_total_tokens.value_or(0);
  binding.slots = memory.mamba_slots.value_or(StateSlots(stages[0], Bytes(0)));
  for (size_t i = 0; i < memory.rest.size(); ++i) {
    const int64_t tokens = BudgetTokens(stages[i], memory.rest[i]).tokens;
    const int64_t slots = StateSlots(stages[i], memory.rest[i]);
    if (!memory.max_total_tokens.has_value() &&
        (i == 0 || tokens < binding.tokens)) {
      binding.tokens = tokens;
      binding.stage = i;
    }
    if (!memory.mamba_slots.has_value()) {
      binding.slots = i == 0 ? slots : std::min(binding.slots, slots);
    }
  }
  return binding;
}

// --max-total-tokens lowers what memory allows; it is in whole pages.
void ApplyTokenLimit(const Settings& settings, int64_t page_size,
                     const PoolMemory& memory, Binding& binding) {
  if (!settings.max_total_tokens.has_value()) return;
  if (memory.max_total_tokens.has_value()) return;
  binding.tokens = std::min(binding.tokens,
                            RoundDown(*settings.max_total_tokens, page_size));
}

void Refuse(const BudgetInput& input, const PoolMemory& memory, size_t stage,
            std::string message, SglangPlan& plan) {
  StartRefusal refusal;
  const TokenBudget budget = BudgetTokens(input, Bytes(0));
  refusal.needed =
      budget.taken_first +
      Bytes(static_cast<int64_t>(budget.token_bytes) * input.page_size) +
      SlotBytes(input) * plan.slots_per_request;
  if (!memory.rest.empty()) refusal.available = memory.rest[stage];
  refusal.message = std::move(message);
  plan.pool.refused = std::move(refusal);
}

void CheckStart(const BudgetInput& input, const PoolMemory& memory,
                size_t stage, SglangPlan& plan) {
  if (HasRowsOfTokens(input) && plan.max_total_tokens <= 0) {
    Refuse(input, memory, stage, NotEnoughMemory(input.settings), plan);
    return;
  }
  if (SlotBytes(input) > Bytes(0) && plan.max_running_requests <= 0) {
    Refuse(input, memory, stage, TooFewStates(plan), plan);
    return;
  }
  if (!HasTwoPools(input)) return;
  int64_t window = 0;
  for (const RankLayer& layer : input.layers) {
    if (layer.HasRows() && layer.IsWindow()) {
      window = std::max(window, layer.Window());
    }
  }
  if (plan.window_tokens > window + plan.page_size) return;
  Refuse(input, memory, stage,
         absl::StrCat("the window pool of ", plan.window_tokens,
                      " tokens must hold more than a window and a page: ",
                      window + plan.page_size),
         plan);
}

void WriteNotes(const BudgetInput& input, const PoolMemory& memory,
                size_t stage, SglangPlan& plan) {
  std::vector<std::string>& notes = plan.pool.notes;
  notes.push_back(
      "SGLang's rules are those of its main of 2026-07-20, read in source; no "
      "version is told apart");
  if (SlotBytes(input) > Bytes(0) && !input.settings.disable_radix_cache) {
    notes.push_back(absl::StrCat(
        "a running request takes ", plan.slots_per_request,
        " state slots: --mamba-scheduler-strategy, overlapped scheduling and "
        "the radix cache decide"));
  }
  if (plan.context_length > plan.max_total_tokens && HasRowsOfTokens(input)) {
    notes.push_back(absl::StrCat(
        "the longest request of ", FormatCount(plan.context_length),
        " tokens is more than the pool's ", FormatCount(plan.max_total_tokens),
        ": it starts and refuses it later"));
  }
  const bool has_draft = FindPool(plan.pools, "draft") != nullptr;
  if (!input.settings.speculative_draft_model_path.empty() && !has_draft) {
    notes.push_back(absl::StrCat("the caches of the draft model ",
                                 input.settings.speculative_draft_model_path,
                                 " are not counted: its config is not given"));
  }
  if (input.settings.speculative && SlotBytes(input) > Bytes(0)) {
    notes.push_back(
        "speculation also keeps intermediate states of running requests, which "
        "are not counted");
  }
  if (!memory.rest.empty()) {
    const Bytes over = TotalBytes(plan.pools) - memory.rest[stage];
    if (over > Bytes(0)) {
      notes.push_back(absl::StrCat(
          "the buffers take ", FormatBytes(over),
          " more than the memory they are budgeted from: a sink page and slot, "
          "page padding, and rows that are charged less than they store"));
    }
  }
}

}  // namespace

int64_t PageSize(const Settings& settings, const ModelSpec& model) {
  const std::string& backend = settings.attention_backend;
  if (settings.page_size.has_value()) return *settings.page_size;
  bool sparse = false;
  for (const LayerSpec& layer : model.layers) {
    for (const AttentionSpec& attention : layer.attention) {
      if (attention.kind == AttentionKind::kCompressed) return kCompressedPage;
      sparse = sparse || (attention.kind == AttentionKind::kMla &&
                          attention.indexer.kind != IndexerKind::kNone);
    }
  }
  if (sparse || backend == "flashmla" || backend == "trtllm_mla") {
    return kSparsePage;
  }
  return backend == "cutlass_mla" || backend == "fa4" ? 128 : 1;
}

absl::StatusOr<SglangPlan> PlanPools(const ModelSpec& model,
                                     const ModelSpec* draft,
                                     const Settings& settings,
                                     const PoolMemory& memory) {
  if (absl::Status status = settings.Validate(); !status.ok()) return status;
  absl::StatusOr<std::vector<BudgetInput>> stages =
      StageInputs(model, draft, settings);
  if (!stages.ok()) return stages.status();
  absl::Status status = CheckMemory(*stages, memory);
  if (!status.ok()) return status;

  const bool no_states = LeaveOutStates(settings, memory, *stages);
  Binding binding = FindBinding(*stages, memory);
  const BudgetInput& input = (*stages)[binding.stage];
  ApplyTokenLimit(settings, input.page_size, memory, binding);

  status = CheckCacheSize(
      input.layers,
      std::max(binding.tokens + input.page_size, CompressorStateRows(settings)),
      binding.slots + 1);
  if (!status.ok()) return status;

  SglangPlan plan;
  plan.token_bytes = BudgetTokens(input, Bytes(0)).token_bytes;
  plan.page_size = input.page_size;
  plan.context_length = input.context_length;
  plan.kv_cache_dtype = DtypeText(input, model);
  plan.max_total_tokens = binding.tokens * settings.dcp_size;
  if (HasTwoPools(input) || HasCompressedRows(input)) {
    plan.window_tokens = WindowTokens(input, binding.tokens);
  }
  plan.mamba_slots = SlotBytes(input) > Bytes(0) ? binding.slots : 0;
  plan.slots_per_request = settings.SlotsPerRequest();
  plan.max_running_requests =
      RunningRequests(input, plan.max_total_tokens, plan.mamba_slots);
  plan.pools = AllocateBuffers(input, {.tokens = binding.tokens,
                                       .window_tokens = plan.window_tokens,
                                       .state_slots = plan.mamba_slots});
  WriteBlockPlan(*stages, binding.stage, memory.rest, plan);
  CheckStart(input, memory, binding.stage, plan);
  WriteNotes(input, memory, binding.stage, plan);
  if (no_states) {
    plan.pool.notes.push_back(
        "the recurrent states are not counted: tokens are given, slots are "
        "not (--max-mamba-cache-size gives them)");
  }
  plan.pool.log_lines = CapacityLog(plan, settings);
  return plan;
}

}  // namespace kvsim::sglang
