// SGLang's plan: model, flags and memory in; pools, log lines and a PoolPlan
// out.
//
// Model:   a token of the pool is one slot in every layer with full history;
//          windows and states have pools beside it (token_budget.h), a drafter
//          stores as many tokens again. Buffers hold one page and one state
//          slot more than requests can use: the first is where padding goes.
//          "GB" in the engine's lines is 2^30 bytes.
// Stages:  every pipeline stage budgets for its own layers; all run with the
//          smallest number of tokens and state slots.
// Given:   a run's printed figures may take the place of memory.
// Source:  model_executor/model_runner_kv_cache_mixin.py, mem_cache/
//          memory_pool.py and the start-up lines of 2025-04 to 2026-09.

#ifndef KVSIM_ENGINES_SGLANG_POOL_PLANNER_H_
#define KVSIM_ENGINES_SGLANG_POOL_PLANNER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/units.h"
#include "engines/sglang/plan.h"
#include "engines/sglang/settings.h"
#include "models/model_spec.h"

namespace kvsim::sglang {

// What the pools are made from. One of `rest` and `max_total_tokens` is given;
// the second goes first.
struct PoolMemory {
  std::vector<Bytes> rest;  // left for the pools on a rank of each stage
  std::optional<int64_t> max_total_tokens;
  std::optional<int64_t> mamba_slots;  // else from `rest` or a flag
};

// The page the engine runs with: flag, else by backend and model.
int64_t PageSize(const Settings& settings, const ModelSpec& model);

// `draft` is the model of --speculative-draft-model-path, or nullptr: then the
// model's own MTP layers draft where the algorithm is one of theirs.
// Errors: InvalidArgument naming flag and value. A start that the engine
// refuses is an answer: PoolPlan::refused. Costs: O(layers).
absl::StatusOr<SglangPlan> PlanPools(const ModelSpec& model,
                                     const ModelSpec* draft,
                                     const Settings& settings,
                                     const PoolMemory& memory);

}  // namespace kvsim::sglang

#endif  // KVSIM_ENGINES_SGLANG_POOL_PLANNER_H_
