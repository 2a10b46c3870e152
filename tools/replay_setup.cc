#include "tools/replay_setup.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "engines/capacity.h"
#include "engines/vllm/replay_groups.h"
#include "models/model_loader.h"
#include "tools/capacity_flags.h"
#include "tools/command.h"
#include "tools/flag_reader.h"

namespace kvsim {
namespace {

using vllm::SchedulingPolicy;
using vllm::Settings;
using vllm::SpeculativeMethod;

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
  settings->async_scheduling = flags.async_scheduling;
  settings->enable_prefix_caching = !flags.no_prefix_caching;
  settings->enable_chunked_prefill = !flags.no_chunked_prefill;
  settings->reserve_full_sequence = !flags.no_reserve_full_isl;
  return reader.status();
}

// --- the pool without a model ----------------------------------------------------

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
  if (setup->bytes_known) settings.geometry.row_bytes = bytes_per_token;
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
  if (settings.block_size < 1 || settings.block_size > int64_t{1} << 31) {
    return settings.Validate();
  }
  settings.pool_bytes = kv_memory->value();
  settings.num_gpu_blocks = *kv_memory / Bytes(settings.BlockBytes());
  return absl::OkStatus();
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
  c.prefix_caching = flags.no_prefix_caching ? "off" : "on";
  c.no_async_scheduling = !flags.async_scheduling;
  return c;
}

// The plan's groups; bytes that every token of history costs feed the cost model.
absl::Status TakePlan(const PoolPlan& plan, ReplaySetup* setup) {
  if (plan.refused.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the engine refuses to start: ", plan.refused->message));
  }
  absl::StatusOr<std::vector<vllm::CacheGroup>> groups =
      vllm::ReplayGroups(plan);
  if (!groups.ok()) return groups.status();
  Settings& settings = setup->settings;
  settings.num_gpu_blocks = plan.num_blocks.value();
  settings.block_size = groups->size() == 1
                            ? plan.scheduler_block_tokens.value()
                            : plan.block_tokens.value();
  settings.max_model_len = plan.max_model_len.value();
  settings.pool_bytes = plan.ranks[plan.binding_rank].kv_memory.value();
  for (const vllm::CacheGroup& group : *groups) {
    if (group.kind == vllm::GroupKind::kFull) {
      setup->kv_bytes_per_token_per_rank +=
          static_cast<double>(group.geometry.row_bytes);
    }
  }
  settings.groups = *std::move(groups);
  return absl::OkStatus();
}

absl::Status PlanWithModel(const ReplayFlags& flags, ReplaySetup* setup) {
  const auto assume = ParseAssumedAttention(flags.assume);
  if (!assume.ok()) return assume.status();
  absl::StatusOr<ModelSpec> model =
      LoadModel(flags.model, flags.hf_overrides, *assume);
  if (!model.ok()) return model.status();
  setup->model = *std::move(model);
  const absl::StatusOr<CapacityQuestion> question =
      QuestionOf(CapacityFlagsOf(flags), *setup->model);
  if (!question.ok()) return question.status();
  const absl::StatusOr<CapacityAnswer> answer = AnswerCapacity(*question);
  if (!answer.ok()) return answer.status();
  setup->bytes_known = true;
  setup->tensor_parallel = answer->parallel.tensor;
  setup->num_gpus = answer->parallel.NumGpus();
  setup->gpu = question->gpu;
  setup->settings.max_num_seqs = answer->max_num_seqs;
  setup->settings.max_num_batched_tokens = answer->max_num_batched_tokens;
  for (const std::string& warning : answer->warnings) {
    setup->warnings.push_back(warning);
  }
  return TakePlan(answer->pool, setup);
}

}  // namespace

absl::StatusOr<ReplaySetup> SetUpReplay(const ReplayFlags& flags) {
  if (flags.engine != "vllm") {
    return absl::InvalidArgumentError(
        absl::StrCat("--engine '", flags.engine, "': accepted: vllm"));
  }
  ReplaySetup setup;
  absl::Status status = ReadSettings(flags, &setup.settings);
  if (!status.ok()) return status;
  status = flags.model.empty() ? PlanWithoutModel(flags, &setup)
                               : PlanWithModel(flags, &setup);
  if (!status.ok()) return status;
  const absl::StatusOr<Settings> normalized = setup.settings.Normalized();
  if (!normalized.ok()) return normalized.status();
  if (setup.settings.num_speculative_tokens > 0) {
    setup.warnings.push_back(
        "accepted drafts are a fixed even spread from 0 to all of them, not "
        "what a model would accept");
  }
  return setup;
}

}  // namespace kvsim
