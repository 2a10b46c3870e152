// What a planner of pools beside each other gives to `kvsim capacity`, and what
// such planners share: memory of a card, and flags that no engine but vLLM has.

#ifndef KVSIM_ENGINES_POOLED_ENGINE_H_
#define KVSIM_ENGINES_POOLED_ENGINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/units.h"
#include "engines/cache_pools.h"
#include "engines/capacity_answer.h"
#include "engines/capacity_question.h"
#include "engines/flag_merge.h"
#include "engines/parallel_plan.h"
#include "engines/pool_plan.h"

namespace kvsim {

struct PooledPlan {
  PoolPlan pool;
  std::vector<CachePool> pools;
  ParallelPlan parallel;
  std::string rules;  // which rules of the engine, in a few words
  std::string kv_cache_dtype;
  int64_t max_num_batched_tokens = 0;
  int64_t max_num_seqs = 0;
  std::vector<MemoryAccount> gpu;  // of the binding rank, beside its pools
  std::string binds;
};

// What is left of a rank's GPU.
struct GpuRest {
  Bytes total;
  Bytes weights;
  Bytes non_kv;  // as given; else 0
  Bytes rest;    // total - weights - non_kv; may be negative
};

// One for each pipeline stage; weights are counted from the config unless
// given. Errors: InvalidArgument when the question names no card.
absl::StatusOr<std::vector<GpuRest>> RestOfGpus(
    const CapacityQuestion& question, const ParallelPlan& parallel);

// "weights", "non-KV memory, as given".
std::vector<MemoryAccount> AccountsOf(const GpuRest& rest);

// Refuses the flags that only vLLM's rules have.
void RefuseVllmFlags(const CapacityQuestion& question, FlagMerge& merge);

// --tensor-parallel-size, or all GPUs of a stage; none: the engine's default.
std::optional<int64_t> AskedTensorRanks(const CapacityQuestion& question,
                                        int64_t pipeline);
// A length as a number of tokens; none stays none.
std::optional<int64_t> AskedTokens(const std::optional<Tokens>& tokens);
// A size whose default is 1; none: not asked for.
std::optional<int64_t> AskedSize(int64_t size);

}  // namespace kvsim

#endif  // KVSIM_ENGINES_POOLED_ENGINE_H_
