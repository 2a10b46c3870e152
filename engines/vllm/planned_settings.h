// From a plan of the pool to the settings under which its traffic is replayed.
//
// Model:   the plan's block tables are the cache groups (replay_groups.h), with the
//          pool of the rank that binds: the stage with the fewest blocks under a
//          pipeline. Tokens in flight, lengths, batch and caching are what the flags
//          and the version resolve to. Chunks that must end where a state is kept
//          end with the attention block, grown until it holds a state.
// Source:  vLLM main of 2026-08-17, v1/core/kv_cache_utils.py,
//          v1/core/sched/scheduler.py.

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
