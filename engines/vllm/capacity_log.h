// The lines vLLM logs about its cache, and the words of its refusals.
//
// Model:   concurrency = blocks / blocks per request, a double; the token count
//          is the truncated product with the maximum length. Older versions
//          count blocks instead. Text equals the engine's, digit by digit.

#ifndef KVSIM_ENGINES_VLLM_CAPACITY_LOG_H_
#define KVSIM_ENGINES_VLLM_CAPACITY_LOG_H_

#include "engines/pool_plan.h"
#include "engines/vllm/planner_switches.h"

namespace kvsim::vllm {

// Fills max_concurrency, kv_cache_tokens and log_lines from the blocks and
// groups of the plan.
// REQUIRES: num_blocks and blocks_per_request are set, groups are not empty.
void WriteCapacityLog(const PlannerSwitches& switches, PoolPlan& plan);

// The engine's message for a start that it refuses. Sets refusal.message.
// REQUIRES: the other fields of `refusal` are set.
void WriteRefusal(Tokens max_model_len, StartRefusal& refusal);

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_CAPACITY_LOG_H_
