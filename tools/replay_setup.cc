#include "tools/replay_setup.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/text.h"
#include "base/units.h"
#include "engines/capacity.h"
#include "engines/state_mode.h"
#include "engines/vllm/engine_behaviours.h"
#include "engines/vllm/model_planner.h"
#include "engines/vllm/planned_settings.h"
#include "models/model_loader.h"
#include "sim/model_roofline.h"
#include "tools/capacity_flags.h"
#include "tools/command.h"
#include "tools/flag_reader.h"
#include "tools/group_spec.h"
#include "tools/paged_groups.h"

namespace kvsim {
namespace {

using vllm::SchedulingPolicy;
using vllm::Settings;
using vllm::SpeculativeMethod;

constexpr int64_t kMaxBlockTokens = int64_t{1} << 31;

absl::StatusOr<SchedulingPolicy> ParsePolicy(absl::string_view text) {
  if (text == "fcfs") return SchedulingPolicy::kFcfs;
  if (text == "priority") return SchedulingPolicy::kPriority;
  return absl::InvalidArgumentError("accepted: fcfs, priority");
}

absl::StatusOr<SpeculativeMethod> ParseMethod(absl::string_view text) {
  if (text == "ngram") return SpeculativeMethod::kNgram;
  if (text == "eagle" || text == "eagle3" || text == "mtp" ||
      text == "draft_model") {
    return SpeculativeMethod::kEagle;
  }
  return absl::InvalidArgumentError(
      "accepted: eagle, eagle3, mtp, draft_model, ngram");
}

absl::StatusOr<int64_t> ParseTokenCount(absl::string_view text) {
  const absl::StatusOr<Tokens> tokens = ParseTokens(text);
  if (!tokens.ok()) return tokens.status();
  return tokens->value();
}

// Nothing is dense.
absl::StatusOr<std::optional<int64_t>> ParseRetention(absl::string_view text) {
  if (text == "dense") return std::optional<int64_t>();
  const absl::StatusOr<int64_t> tokens = ParseTokenCount(text);
  if (!tokens.ok()) {
    return absl::InvalidArgumentError(
        "accepted: dense, 0, or a number of tokens");
  }
  return std::optional<int64_t>(*tokens);
}

absl::StatusOr<vllm::PreemptionMode> ParsePreemption(absl::string_view text) {
  if (text == "recompute") return vllm::PreemptionMode::kRecompute;
  if (text == "swap") return vllm::PreemptionMode::kSwap;
  return absl::InvalidArgumentError("accepted: recompute, swap");
}

// A plain number is GiB, as in vLLM's flag.
absl::StatusOr<Bytes> ParseSwapSpace(absl::string_view text) {
  const absl::StatusOr<Bytes> gib = ParseBytes(absl::StrCat(text, "GiB"));
  if (gib.ok()) return gib;
  const absl::StatusOr<Bytes> bytes = ParseBytes(text);
  if (bytes.ok()) return bytes;
  return absl::InvalidArgumentError(
      "accepted: a number of GiB, or bytes with a unit, such as 4 or 512MiB");
}

absl::StatusOr<Bytes> ParseBandwidth(absl::string_view text) {
  absl::string_view rest = text;
  const absl::StatusOr<Bytes> bytes =
      ParseBytes(absl::ConsumeSuffix(&rest, "/s") ? rest : "");
  if (bytes.ok() && bytes->value() > 0) return bytes;
  return absl::InvalidArgumentError(
      "accepted: bytes per second above 0, such as 25GB/s or 24GiB/s");
}

absl::Status ReadSettings(const ReplayFlags& flags, Settings* settings) {
  FlagReader reader;
  reader.Read("--block-size", flags.block_size, ParseTokenCount,
              &settings->block_size);
  reader.Read("--num-gpu-blocks", flags.num_gpu_blocks, ParseCount,
              &settings->num_gpu_blocks);
  reader.Read("--max-num-seqs", flags.max_num_seqs, ParseCount,
              &settings->max_num_seqs);
  reader.Read("--max-num-batched-tokens", flags.max_num_batched_tokens,
              ParseTokenCount, &settings->max_num_batched_tokens);
  reader.Read("--max-model-len", flags.max_model_len, ParseTokenCount,
              &settings->max_model_len);
  reader.Read("--scheduling-policy", flags.scheduling_policy, ParsePolicy,
              &settings->policy);
  reader.Read("--watermark", flags.watermark, ParseFraction,
              &settings->watermark);
  reader.Read("--long-prefill-token-threshold",
              flags.long_prefill_token_threshold, ParseTokenCount,
              &settings->long_prefill_token_threshold);
  reader.Read("--num-speculative-tokens", flags.num_speculative_tokens,
              ParseCount, &settings->num_speculative_tokens);
  reader.Read("--speculative-method", flags.speculative_method, ParseMethod,
              &settings->speculative_method);
  reader.Read("--retention-interval", flags.retention_interval, ParseRetention,
              &settings->retention_interval);
  reader.Read("--checkpoint-policy", flags.checkpoint_policy,
              vllm::ParseCheckpointPolicy, &settings->checkpoints);
  if (!flags.checkpoint_policy.empty() && !flags.retention_interval.empty()) {
    reader.Refuse("--checkpoint-policy", flags.checkpoint_policy,
                  "says where states are kept, as --retention-interval does: "
                  "give one of them");
  }
  reader.Read("--prefix-match-unit", flags.prefix_match_unit, ParseTokenCount,
              &settings->prefix_match_unit);
  if (settings->prefix_match_unit.has_value() && !settings->partial_hits) {
    reader.Refuse("--prefix-match-unit", flags.prefix_match_unit,
                  "this version of the engine hits whole blocks only; "
                  "accepted: from --engine-version 2026-07-12 on");
  }
  reader.Read("--preemption-mode", flags.preemption_mode, ParsePreemption,
              &settings->preemption_mode);
  settings->async_scheduling = flags.async_scheduling;
  settings->enable_prefix_caching = !flags.no_prefix_caching.value_or(false);
  settings->enable_chunked_prefill = !flags.no_chunked_prefill;
  if (flags.no_reserve_full_isl.has_value()) {
    settings->reserve_full_sequence = !*flags.no_reserve_full_isl;
  }
  return reader.status();
}

// --- the pool without a model ----------------------------------------------------

// Every group's block has the bytes of --block-size tokens of one group.
absl::Status ReadGroups(const ReplayFlags& flags, int64_t bytes_per_token,
                        Settings* settings) {
  if (flags.groups.empty()) return absl::OkStatus();
  StateMode mode = StateMode::kAlign;
  FlagReader reader;
  reader.Read("--mamba-cache-mode", flags.state_mode, ParseStateMode, &mode);
  if (!reader.status().ok()) return reader.status();
  absl::StatusOr<std::vector<vllm::CacheGroup>> groups =
      ParseGroups(flags.groups, mode, *settings);
  if (!groups.ok()) return groups.status();
  settings->groups = *std::move(groups);
  if (bytes_per_token == 0) return absl::OkStatus();
  const int64_t block = settings->block_size * bytes_per_token;
  for (vllm::CacheGroup& group : settings->groups) {
    const bool rows = group.kind != vllm::GroupKind::kRecurrent;
    group.geometry.row_bytes = rows ? block / group.block_tokens : 0;
    group.geometry.state_bytes = rows ? 0 : block;
    group.geometry.slot_padding = block - group.BlockBytes();
  }
  return absl::OkStatus();
}

absl::Status PlanWithoutModel(const ReplayFlags& flags, ReplaySetup* setup) {
  Settings& settings = setup->settings;
  int64_t bytes_per_token = 0;
  std::optional<Bytes> kv_memory;
  FlagReader reader;
  reader.Read("--kv-bytes-per-token", flags.kv_bytes_per_token, ParseCount,
              &bytes_per_token);
  reader.Read("--kv-memory", flags.kv_memory, ParseBytes, &kv_memory);
  if (!flags.kv_bytes_per_token.empty() &&
      (bytes_per_token < 1 || bytes_per_token > int64_t{1} << 40)) {
    reader.Refuse("--kv-bytes-per-token", flags.kv_bytes_per_token,
                  "accepted: 1 to 2^40 bytes");
  }
  if (!reader.status().ok()) return reader.status();
  setup->bytes_known = bytes_per_token > 0;
  if (settings.block_size < 1 || settings.block_size > kMaxBlockTokens) {
    return settings.Validate();
  }
  if (setup->bytes_known) settings.geometry.row_bytes = bytes_per_token;
  const absl::Status grouped = ReadGroups(flags, bytes_per_token, &settings);
  if (!grouped.ok()) return grouped;
  if (!flags.num_gpu_blocks.empty()) {
    if (!kv_memory.has_value()) return absl::OkStatus();
    return UsageError(
        "--num-gpu-blocks and --kv-memory both say how large the pool is: give "
        "one of them");
  }
  if (!kv_memory.has_value() || bytes_per_token == 0) {
    return UsageError(
        "needs the pool: --num-gpu-blocks, or --kv-memory with "
        "--kv-bytes-per-token, or --model with its memory");
  }
  settings.pool_bytes = kv_memory->value();
  settings.num_gpu_blocks = *kv_memory / Bytes(settings.BlockBytes());
  return absl::OkStatus();
}

// --- host memory -------------------------------------------------------------------

// The slower of the two directions, as measured with pages of this size.
absl::Status PriceSwaps(const ReplayFlags& flags, const ReplaySetup& setup,
                        Bytes* per_second) {
  const absl::StatusOr<std::optional<CostTable>> table =
      CostTableOf(flags.cost, setup.bytes_known);
  if (!table.ok()) return table.status();
  const int64_t page =
      PagedGroupsOf(setup.settings, setup.group_layers, true)[0].PageBytes();
  *per_second = Bytes(static_cast<int64_t>(
      std::min((*table)->BytesPerSecond(PagingPart::kSwapOut, page),
               (*table)->BytesPerSecond(PagingPart::kSwapIn, page))));
  return absl::OkStatus();
}

// Whole blocks of it, of the same bytes as the pool's. vLLM's own default is 4 GiB.
absl::Status PlanHostMemory(const ReplayFlags& flags, ReplaySetup* setup) {
  if (!AsksForSwaps(flags)) return absl::OkStatus();
  if (!setup->bytes_known) {
    return UsageError(
        "swaps move bytes: --preemption-mode swap and --baseline swap need "
        "--model or --kv-bytes-per-token");
  }
  if (flags.swap_bandwidth.empty() && flags.cost.empty()) {
    return UsageError(
        "--preemption-mode swap and --baseline swap need --swap-bandwidth, "
        "such as 25GB/s, or --cost");
  }
  Bytes space = GiB(4);
  Bytes per_second;
  if (flags.swap_bandwidth.empty()) {
    const absl::Status priced = PriceSwaps(flags, *setup, &per_second);
    if (!priced.ok()) return priced;
  }
  FlagReader reader;
  reader.Read("--swap-space", flags.swap_space, ParseSwapSpace, &space);
  reader.Read("--swap-bandwidth", flags.swap_bandwidth, ParseBandwidth,
              &per_second);
  if (!reader.status().ok()) return reader.status();
  setup->host_link = {.block_bytes = setup->settings.BlockBytes(),
                      .bytes_per_second = per_second.value()};
  setup->settings.host_blocks = space.value() / setup->host_link.block_bytes;
  return setup->settings.Validate();
}

// --- the pool of a model ---------------------------------------------------------

CapacityFlags CapacityFlagsOf(const ReplayFlags& flags) {
  CapacityFlags c;
  c.model = flags.model;
  c.hf_overrides = flags.hf_overrides;
  c.engine = flags.engine;
  c.engine_version = flags.engine_version;
  c.gpu = flags.gpu;
  c.gpu_memory = flags.gpu_memory;
  c.gpu_memory_utilization = flags.gpu_memory_utilization;
  c.weight_bytes = flags.weight_bytes;
  c.non_kv_memory = flags.non_kv_memory;
  c.kv_memory = flags.kv_memory;
  c.num_gpu_blocks = flags.num_gpu_blocks;
  c.num_gpus = flags.num_gpus;
  c.tensor = flags.tensor;
  c.pipeline = flags.pipeline;
  c.decode_context = flags.decode_context;
  c.kv_cache_dtype = flags.kv_cache_dtype;
  c.block_size = flags.block_size;
  c.max_model_len = flags.max_model_len;
  c.max_num_batched_tokens = flags.max_num_batched_tokens;
  c.max_num_seqs = flags.max_num_seqs;
  if (flags.no_prefix_caching.has_value()) {
    c.prefix_caching = *flags.no_prefix_caching ? "off" : "on";
  }
  c.state_mode = flags.state_mode;
  c.state_dtype = flags.state_dtype;
  c.no_async_scheduling = !flags.async_scheduling;
  return c;
}

void Warn(const std::string& warning, ReplaySetup* setup) {
  std::vector<std::string>& warnings = setup->warnings;
  if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end()) {
    warnings.push_back(warning);
  }
}

// The model's own drafting layers keep rows; another drafter's are not known.
void AskForDrafts(const ReplayFlags& flags, ReplaySetup* setup,
                  CapacityQuestion* question) {
  question->speculative_tokens = setup->settings.num_speculative_tokens;
  if (question->speculative_tokens == 0 || flags.speculative_method == "mtp") {
    return;
  }
  question->speculative_method = kvsim::SpeculativeMethod::kNoCache;
  if (setup->settings.DropsLastHit()) {
    Warn("the drafter's own layers are not counted in the pool", setup);
  }
}

absl::Status PlanWithModel(const ReplayFlags& flags, ReplaySetup* setup) {
  const auto assume = ParseAssumedAttention(flags.assume);
  if (!assume.ok()) return assume.status();
  absl::StatusOr<ModelSpec> model =
      LoadModel(flags.model, flags.hf_overrides, *assume);
  if (!model.ok()) return model.status();
  setup->model = *std::move(model);
  absl::StatusOr<CapacityQuestion> question =
      QuestionOf(CapacityFlagsOf(flags), *setup->model);
  if (!question.ok()) return question.status();
  if (flags.no_hybrid_manager.has_value()) {
    question->hybrid_manager = !*flags.no_hybrid_manager;
  }
  AskForDrafts(flags, setup, &*question);
  const absl::StatusOr<CapacityAnswer> answer = AnswerCapacity(*question);
  if (!answer.ok()) return answer.status();
  const absl::StatusOr<vllm::Resolved> resolved = vllm::ResolveFlags(*question);
  if (!resolved.ok()) return resolved.status();
  absl::StatusOr<Settings> settings =
      vllm::PlannedSettings(answer->pool, *resolved, setup->settings);
  if (!settings.ok()) return settings.status();
  setup->settings = *std::move(settings);
  if (setup->settings.prefix_match_unit.has_value() &&
      !setup->settings.partial_hits) {
    Warn(
        "--prefix-match-unit changes nothing here: hits of context-parallel "
        "ranks end on whole blocks",
        setup);
  }
  setup->bytes_known = true;
  setup->tensor_parallel = answer->parallel.tensor;
  setup->num_gpus = answer->parallel.NumGpus();
  setup->gpu = question->gpu;
  setup->settings.attention_balance = AttentionBalance(*setup->model);
  setup->kv_bytes_per_token_per_rank = vllm::HistoryBytesPerToken(answer->pool);
  for (const kvsim::CacheGroup& group : answer->pool.groups) {
    setup->group_layers.push_back(group.num_tensors);
  }
  for (const std::string& warning : answer->warnings) Warn(warning, setup);
  return absl::OkStatus();
}

// A policy that has nothing to decide, or takes a decision from the engine.
void WarnOfPolicy(ReplaySetup* setup) {
  const Settings& settings = setup->settings;
  if (!settings.checkpoints.has_value()) return;
  const bool decides = std::any_of(
      settings.groups.begin(), settings.groups.end(), [](const auto& group) {
        return group.kind == vllm::GroupKind::kSlidingWindow ||
               (group.kind == vllm::GroupKind::kRecurrent &&
                group.state_mode == StateMode::kAlign);
      });
  if (!decides && !settings.EvictsByValue()) {
    Warn(
        "--checkpoint-policy decides nothing here: the model has neither "
        "windows nor states in align mode",
        setup);
  }
}

}  // namespace

absl::StatusOr<ReplaySetup> SetUpReplay(const ReplayFlags& flags) {
  if (flags.engine != "vllm") {
    return absl::InvalidArgumentError(
        absl::StrCat("--engine '", flags.engine, "': accepted: vllm"));
  }
  ReplaySetup setup;
  absl::Status status = vllm::ApplyVersion(flags.engine_version,
                                           &setup.settings, &setup.warnings);
  status.Update(ReadSettings(flags, &setup.settings));
  if (!status.ok()) return status;
  status = flags.model.empty() ? PlanWithoutModel(flags, &setup)
                               : PlanWithModel(flags, &setup);
  if (!status.ok()) return status;
  absl::StatusOr<Settings> normalized = setup.settings.Normalized();
  if (!normalized.ok()) return normalized.status();
  setup.settings = *std::move(normalized);
  status = PlanHostMemory(flags, &setup);
  if (!status.ok()) return status;
  WarnOfPolicy(&setup);
  if (setup.settings.num_speculative_tokens > 0) {
    setup.warnings.push_back(
        "accepted drafts are a fixed even spread from 0 to all of them, not "
        "what a model would accept");
  }
  return setup;
}

}  // namespace kvsim
