// A vLLM deployment of a model: flags in, pool and memory budget out.
//
// Model:   fills in what the flags leave open, as a server of that version does
//          (batch sizes by the card, cache dtype by checkpoint and card, hybrid
//          manager by the layers), then budget -> specs -> groups -> pool.
// Re-use:  layouts do not depend on the parallel plan; LayoutOf once, PlanModel
//          for every plan tried.
// Drafts:  MTP layers of the checkpoint follow the model's; a draft model's
//          layers follow those, with its own widths and windows. Gemma 4's MTP
//          drafter reads the model's cache and adds nothing.
// Source:  vLLM main of 2026-08-17 (engine/arg_utils.py, config/vllm.py).

#ifndef KVSIM_ENGINES_VLLM_MODEL_PLANNER_H_
#define KVSIM_ENGINES_VLLM_MODEL_PLANNER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engines/capacity_question.h"
#include "engines/parallel_plan.h"
#include "engines/pool_plan.h"
#include "engines/vllm/memory_budget.h"
#include "engines/vllm/planner_switches.h"
#include "models/cache_layout.h"

namespace kvsim::vllm {

// Everything the flags decide that does not depend on the parallel plan.
struct Resolved {
  PlannerSwitches switches;
  std::string version;
  ModelSpec model;  // as the flags change it
  CacheLayout layout;
  CacheLayout draft_layout;  // of a draft model; no layers: none
  KvCacheDtype kv_cache_dtype = KvCacheDtype::kAuto;
  Bytes gpu_total{0};  // 0: the cache's memory or blocks are given
  int sm = 0;
  double utilization = 0.92;
  Tokens max_model_len{0};
  int64_t max_num_batched_tokens = 0;
  int64_t max_num_seqs = 0;
  bool hybrid_manager = true;
  bool prefix_caching = true;
  StateMode state_mode = StateMode::kAlign;
  std::vector<std::string> notes;
};

absl::StatusOr<Resolved> ResolveFlags(const CapacityQuestion& question);

struct PlannedModel {
  PoolPlan pool;
  std::vector<MemoryBudget> budgets;  // empty when the cache's size is given
};

// Plans one parallel layout. `kv_shift` moves the cache memory of every rank:
// the ends of an error band.
absl::StatusOr<PlannedModel> PlanModel(const CapacityQuestion& question,
                                       const Resolved& resolved,
                                       const ParallelPlan& parallel,
                                       Bytes kv_shift = Bytes(0));

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_MODEL_PLANNER_H_
