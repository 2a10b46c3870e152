// What SGLang makes of a model and its memory: tokens, slots, buffers, blocks.
//
// Units:   tokens, slots and bytes of one rank, unless said otherwise.
// Ownership: plain values.

#ifndef KVSIM_ENGINES_SGLANG_PLAN_H_
#define KVSIM_ENGINES_SGLANG_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engines/cache_pools.h"
#include "engines/pool_plan.h"

namespace kvsim::sglang {

struct SglangPlan {
  double token_bytes = 0;  // charged for one token, on the rank that binds
  int64_t page_size = 1;   // of one context rank
  int64_t context_length = 0;
  std::string kv_cache_dtype;

  int64_t max_total_tokens = 0;  // of all context ranks
  int64_t window_tokens = 0;     // 0: no pool of windows
  int64_t mamba_slots = 0;       // 0: no states
  int64_t slots_per_request = 0;
  int64_t max_running_requests = 0;

  // "full", "swa", "draft", "state"; with compressed rows also "c4", "c128",
  // "c4_state", "c128_state". Parts: K, V, KV, index, conv, ssm, state.
  std::vector<CachePool> pools;
  PoolPlan pool;  // the same as blocks: pages, window pages, state slots
};

}  // namespace kvsim::sglang

#endif  // KVSIM_ENGINES_SGLANG_PLAN_H_
