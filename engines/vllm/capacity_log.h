// The lines vLLM logs about its cache, and the words of its refusals.
//
// Model:   concurrency = blocks / blocks per request, a double; the token count
//          is the truncated product with the maximum length. Older versions
//          count blocks instead. Text equals the engine's, digit by digit.

#ifndef KVSIM_ENGINES_VLLM_CAPACITY_LOG_H_
#define KVSIM_ENGINES_VLLM_CAPACITY_LOG_H_

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "engines/pool_plan.h"
#include "engines/vllm/planner_switches.h"

namespace kvsim::vllm {

// What the lines say beside the plan's own figures.
struct LogContext {
  // Attention's block before it grew to hold a state; 0: it did not.
  Tokens natural_block{0};
  int64_t num_workers = 1;
  std::vector<Blocks> worker_blocks;  // of each worker; empty: all alike
};

// Fills max_concurrency, kv_cache_tokens and log_lines from the blocks, groups
// and padding of the plan: what grew or was padded, then sizes.
// REQUIRES: num_blocks and blocks_per_request are set, groups are not empty.
void WriteCapacityLog(const PlannerSwitches& switches,
                      const LogContext& context, PoolPlan& plan);

// The same for V0: blocks here and on the host, and the concurrency of plans
// that count blocks only.
// REQUIRES: num_blocks, host_blocks and block_tokens are set.
void WritePreviousLog(const PlannerSwitches& switches, PoolPlan& plan);

// Adds the line about a maximum length that the engine chose itself.
void WriteFittedLength(Tokens asked, Tokens fitted, Bytes available,
                       PoolPlan& plan);

// The engine's message for a start that it refuses. Sets refusal.message.
// REQUIRES: the other fields of `refusal` are set.
void WriteRefusal(Tokens max_model_len, StartRefusal& refusal);
void WritePreviousRefusal(Tokens max_model_len, StartRefusal& refusal);

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_CAPACITY_LOG_H_
