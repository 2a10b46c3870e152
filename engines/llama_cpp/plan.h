// What llama.cpp makes of a model and its flags: cells, caches, blocks.
//
// Ownership: plain values.

#ifndef KVSIM_ENGINES_LLAMA_CPP_PLAN_H_
#define KVSIM_ENGINES_LLAMA_CPP_PLAN_H_

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "engines/cache_pools.h"
#include "engines/pool_plan.h"

namespace kvsim::llama_cpp {

struct CachePlan {
  int64_t ctx_size = 0;      // tokens, before rounding
  int64_t streams = 1;       // entries of a pool are per stream
  int64_t cells = 0;         // of one stream
  int64_t window_cells = 0;  // 0: no windows
  int64_t sequences = 1;
  int64_t state_copies = 1;  // of each sequence's recurrent state

  std::vector<CachePool> pools;  // parts: K and V; R and S
  Bytes host;                    // of all pools, what stays off the GPU
  PoolPlan pool;
};

}  // namespace kvsim::llama_cpp

#endif  // KVSIM_ENGINES_LLAMA_CPP_PLAN_H_
