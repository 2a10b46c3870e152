// vLLM's plan of the block pool: from the caches of the layers and the bytes
// of each pipeline stage to blocks, log lines, or the refusal to start.
//
// Model:   groups are made from the whole model (layer_grouping.h) and then cut
//          down to each stage's layers; every stage divides its memory by its
//          own block, all use the smallest number. One request of the maximum
//          length must fit: the engine checks the whole model's block against
//          the memory of the smallest stage.
// Exact:   the printed figures come from the same double expressions as the
//          engine's; ties round to even.
// Source:  vLLM main of 2026-08-17, v1/core/kv_cache_utils.py; older rules by
//          PlannerSwitches.

#ifndef KVSIM_ENGINES_VLLM_POOL_PLANNER_H_
#define KVSIM_ENGINES_VLLM_POOL_PLANNER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/units.h"
#include "engines/pool_plan.h"
#include "engines/vllm/kv_spec.h"
#include "engines/vllm/layer_grouping.h"
#include "engines/vllm/planner_switches.h"

namespace kvsim::vllm {

// The longest maximum length that is planned: 2^40 tokens.
inline constexpr Tokens kMaxPlannedTokens = Tokens(int64_t{1} << 40);

// A block table that holds no layer's rows: the tail of pooled index keys, the
// states of an embedding. It takes blocks of the pool for every request.
struct ExtraGroup {
  std::string kind;
  BlockDemand demand;
};

struct PoolInput {
  std::vector<LayerKvSpec> caches;    // whole model in layer order, drafts last
  std::vector<int64_t> stage_layers;  // model layers of each pipeline stage
  // One rank of each stage; empty: exactly what num_blocks_override takes.
  std::vector<Bytes> kv_memory;
  // Every rank by itself, stage by stage; empty: those of a stage are alike.
  // kv_memory then holds the least of each stage.
  std::vector<Bytes> rank_memory;
  std::optional<Blocks> num_blocks_override;
  Tokens max_model_len;
  Tokens max_num_batched_tokens{8192};
  bool async_scheduling = true;
  bool hybrid_manager = true;
  DemandRules demand;
  std::vector<ExtraGroup> extra_groups;
  // Attention's block before it grew to hold a state; 0: as the caches say.
  Tokens natural_block{0};
  int64_t num_workers = 1;
  Bytes swap_space{0};  // of the host; V0 only
  PlannerSwitches switches;
};

// Errors: InvalidArgument naming what is wrong with the input. "Does not fit"
// is no error: PoolPlan::refused says what would. Costs: O(caches x different
// specs).
absl::StatusOr<PoolPlan> PlanPool(const PoolInput& input);

// V0's plan: one table of blocks for all layers, the history of every one of
// them whole; blocks on the host beside them.
absl::StatusOr<PoolPlan> PlanPreviousPool(const PoolInput& input);

// Tokens that may be scheduled and not yet computed: batches in flight times
// the batch's budget. A pipeline holds one batch per stage.
Tokens TokensInFlight(const PoolInput& input);

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_POOL_PLANNER_H_
