#include "engines/pooled_capacity.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/text.h"
#include "engines/llama_cpp/capacity_planner.h"
#include "engines/pooled_engine.h"
#include "engines/sequence_bytes.h"
#include "engines/sglang/capacity_planner.h"
#include "engines/tensorrt_llm/capacity_planner.h"
#include "models/layout_builder.h"

namespace kvsim {
namespace {

struct PooledEngine {
  absl::string_view name;
  absl::StatusOr<PooledPlan> (*plan)(const CapacityQuestion& question);
};

constexpr PooledEngine kEngines[] = {
    {"sglang", sglang::PlanCapacity},
    {"llama.cpp", llama_cpp::PlanCapacity},
    {"tensorrt-llm", tensorrt_llm::PlanCapacity},
};

std::vector<MemoryAccount> AccountsOfPools(const PooledPlan& planned) {
  const RankPool& rank = planned.pool.ranks[planned.pool.binding_rank];
  std::vector<MemoryAccount> accounts = planned.gpu;
  accounts.push_back({"KV cache", rank.kv_memory, ""});
  Bytes left = rank.kv_memory;
  for (const CachePool& pool : planned.pools) {
    accounts.push_back(
        {absl::StrCat("pool ", pool.name), TotalBytes(pool), "KV cache"});
    left -= TotalBytes(pool);
  }
  accounts.push_back({left < Bytes(0) ? "taken beyond the budget" : "remainder",
                      left, "KV cache"});
  return accounts;
}

std::vector<std::string> Warnings(const CapacityQuestion& question,
                                  const CapacityAnswer& answer,
                                  const PooledPlan& planned) {
  std::vector<std::string> warnings = question.notes;
  warnings.insert(warnings.end(), planned.pool.notes.begin(),
                  planned.pool.notes.end());
  warnings.push_back(absl::StrCat(
      answer.engine,
      " prints no concurrency: the engine line is the tightest pool over a "
      "request's worst case in it"));
  for (const ContextAnswer& context : answer.contexts) {
    if (context.count.length <= answer.pool.max_model_len) continue;
    warnings.push_back(absl::StrCat(
        FormatCount(context.count.length.value()), " tokens are more than the ",
        FormatCount(answer.pool.max_model_len.value()),
        " that the engine accepts"));
  }
  return warnings;
}

absl::Status CountReplicas(const CapacityQuestion& question,
                           CapacityAnswer& answer) {
  const int64_t gpus = answer.parallel.NumGpus();
  answer.num_gpus = question.num_gpus.value_or(gpus);
  if (answer.num_gpus < 1 || answer.num_gpus % gpus != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--num-gpus ", answer.num_gpus, ": one engine (",
                     answer.parallel.ToString(), ") takes ", gpus,
                     " GPUs, which does not divide it"));
  }
  answer.replicas = answer.num_gpus / gpus;
  return absl::OkStatus();
}

void AnswerContexts(const CapacityQuestion& question, const CacheLayout& layout,
                    CapacityAnswer& answer) {
  std::vector<Tokens> lengths = question.contexts;
  if (lengths.empty()) lengths = {answer.pool.max_model_len};
  for (const Tokens length : lengths) {
    ContextAnswer context;
    context.count = CountRequests(answer.pool, length, question.shared_prefix,
                                  answer.max_num_seqs);
    context.low = context.high = context.count;
    context.sequence_bytes = SequenceBytes(layout, length);
    context.cluster_resident = context.count.resident * answer.replicas;
    answer.contexts.push_back(context);
  }
}

}  // namespace

std::vector<absl::string_view> PooledEngines() {
  std::vector<absl::string_view> names;
  for (const PooledEngine& engine : kEngines) names.push_back(engine.name);
  return names;
}

absl::StatusOr<CapacityAnswer> AnswerPooledCapacity(
    const CapacityQuestion& question) {
  const auto* engine = std::find_if(
      std::begin(kEngines), std::end(kEngines),
      [&](const PooledEngine& known) { return known.name == question.engine; });
  KVSIM_CHECK(engine != std::end(kEngines)) << question.engine;
  absl::StatusOr<PooledPlan> planned = engine->plan(question);
  if (!planned.ok()) return planned.status();
  const absl::StatusOr<CacheLayout> layout =
      BuildCacheLayout(*question.model, {});
  if (!layout.ok()) return layout.status();

  CapacityAnswer answer;
  answer.engine = question.engine;
  answer.engine_version = planned->rules;
  answer.parallel = planned->parallel;
  if (absl::Status status = CountReplicas(question, answer); !status.ok()) {
    return status;
  }
  answer.kv_cache_dtype = planned->kv_cache_dtype;
  answer.max_num_batched_tokens = planned->max_num_batched_tokens;
  answer.max_num_seqs = planned->max_num_seqs;
  answer.pool = planned->pool;
  answer.low = answer.high = EndOf(answer.pool);
  answer.accounts = AccountsOfPools(*planned);
  answer.sequence_bytes_per_token = layout->BytesPerToken();
  answer.rank_bytes_per_token = PoolBytesPerToken(answer.pool);
  answer.fixed_blocks = FixedBlocks(answer.pool);
  answer.one_token_blocks = SteadyBlocks(answer.pool, Tokens(1));
  answer.binds = planned->binds;
  AnswerContexts(question, *layout, answer);
  answer.warnings = Warnings(question, answer, *planned);
  return answer;
}

}  // namespace kvsim
