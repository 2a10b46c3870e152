// What `kvsim capacity` answers, whatever the engine.
//
// Units:   a *rank's share* unless a name says cluster or sequence.
// Ownership: plain values.

#ifndef KVSIM_ENGINES_CAPACITY_ANSWER_H_
#define KVSIM_ENGINES_CAPACITY_ANSWER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "engines/concurrency.h"
#include "engines/parallel_plan.h"
#include "engines/pool_plan.h"

namespace kvsim {

// One line of "where the bytes go", on the rank that binds. Lines that are not
// parts of an earlier one add up to the GPU's total.
struct MemoryAccount {
  std::string name;
  Bytes bytes;
  std::string part_of;  // "": of the GPU
};

// One sequence at one length, and what the pool makes of it.
struct ContextAnswer {
  Concurrency count;
  Concurrency low, high;         // at the ends of the memory's error band
  Bytes sequence_bytes;          // the logical cache: no sharding, no rounding
  int64_t cluster_resident = 0;  // resident x replicas
};

// The pool at one end of the memory's error band.
struct PoolEnd {
  Blocks num_blocks;
  Tokens kv_cache_tokens;
  double max_concurrency = 0;
};

inline PoolEnd EndOf(const PoolPlan& pool) {
  return {pool.num_blocks, pool.kv_cache_tokens, pool.max_concurrency};
}

// What another choice would give.
struct Alternative {
  std::string change;  // "--kv-cache-dtype fp8"
  std::string note;    // why it does not apply; then the rest is empty
  Bytes kv_memory;     // of the binding rank
  Blocks num_blocks;
  std::vector<int64_t> resident;  // for each context
  int64_t num_gpus = 0;
};

struct CapacityAnswer {
  std::string engine, engine_version;
  ParallelPlan parallel;
  int64_t num_gpus = 1;
  int64_t replicas = 1;
  std::string kv_cache_dtype;  // as the engine resolves it
  int64_t max_num_batched_tokens = 0;
  int64_t max_num_seqs = 0;

  PoolPlan pool;
  std::vector<MemoryAccount> accounts;
  Bytes kv_band;  // the pool's memory is known to within this
  std::string kv_band_basis;
  PoolEnd low, high;  // equal without a band

  double sequence_bytes_per_token = 0;  // logical
  double rank_bytes_per_token = 0;      // of the pool, with block padding
  Blocks fixed_blocks;                  // of a request, whatever its length
  Blocks one_token_blocks;              // of a request of one token
  std::string binds;                    // what limits the pool, in words
  std::vector<ContextAnswer> contexts;
  std::vector<Alternative> alternatives;
  std::vector<std::string> warnings;
};

}  // namespace kvsim

#endif  // KVSIM_ENGINES_CAPACITY_ANSWER_H_
