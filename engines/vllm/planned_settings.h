// From a plan of the pool to the settings under which its traffic is replayed.
//
// Model:   every block table of the plan becomes a cache group: its kind and block,
//          its window, chunk or encoder's tokens, its states' mode, and the bytes
//          of one block on the rank that binds (the stage with the fewest blocks
//          under a pipeline), so that every group's block has the plan's bytes.
//          Blocks of sharded history stand for the tokens of all
//          decode-context ranks; states are whole on each. Tables without rows (an
//          index's unfinished group) are blocks held for as long as their request,
//          never hit.
// Rows:    bytes of a token are whole; what a block's rows leave beside them, less
//          than one byte a token, counts as page padding.
// Source:  vLLM main of 2026-08-17, v1/core/kv_cache_utils.py (groups),
//          v1/core/single_type_kv_cache_manager.py (their blocks).

#ifndef KVSIM_ENGINES_VLLM_PLANNED_SETTINGS_H_
#define KVSIM_ENGINES_VLLM_PLANNED_SETTINGS_H_

#include "absl/status/statusor.h"
#include "engines/pool_plan.h"
#include "engines/vllm/model_planner.h"
#include "engines/vllm/settings.h"

namespace kvsim::vllm {

// `asked` with groups, pool, lengths, batch and caching as planned; what the plan
// says nothing of stays.
// Errors: InvalidArgument when the engine refuses to start, in its own words;
// Unimplemented for V0, whose scheduler is another one.
absl::StatusOr<Settings> PlannedSettings(const PoolPlan& plan,
                                         const Resolved& resolved,
                                         const Settings& asked);

// Bytes that one more token of context adds on the binding rank: of the groups that
// keep all history.
double HistoryBytesPerToken(const PoolPlan& plan);

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_PLANNED_SETTINGS_H_
