// How many equal requests of one length a pool serves: four answers that must
// not be mixed.
//
//   engine_line  blocks / worst-case blocks of a request, as the engine logs it;
//   resident     the largest n whose blocks in steady decode all fit: the
//                headline;
//   admitted     how many the admission gate lets in one after the other, each
//                checked for its worst case while the earlier ones decode;
//   ideal        bytes only: no blocks, no padding, no null block.
//
// Pools:   where a plan has pools beside the main one, the pool that holds the
//          fewest requests decides; the blocks below are the main pool's.
// Shared prefix: whole blocks of full history that all requests have in common
//          are held once. It changes resident, admitted and ideal, never what
//          the engine prints.
// Units:   requests on one engine (one pool). Costs: O(groups).

#ifndef KVSIM_ENGINES_CONCURRENCY_H_
#define KVSIM_ENGINES_CONCURRENCY_H_

#include <cstdint>

#include "base/units.h"
#include "engines/pool_plan.h"

namespace kvsim {

struct Concurrency {
  Tokens length;
  double engine_line = 0;
  int64_t resident = 0;
  int64_t admitted = 0;
  double ideal = 0;

  Blocks worst_blocks;   // of one request, the engine's worst case
  Blocks steady_blocks;  // of one request in steady decode
  Blocks shared_blocks;  // of those, held once for all
  Bytes ideal_bytes;     // of one request on this rank, rows and states only
  bool sequence_limit_binds = false;  // resident > max_num_seqs
};

// REQUIRES: 1 <= length <= 2^40, 0 <= shared_prefix, max_num_seqs >= 1.
Concurrency CountRequests(const PoolPlan& plan, Tokens length,
                          Tokens shared_prefix, int64_t max_num_seqs);

// Bytes of the pool that one more token of a long request takes on this rank,
// block padding included; a double because a block divides over its tokens.
double PoolBytesPerToken(const PoolPlan& plan);

// Blocks of the main pool that a long request holds whatever its length, in
// steady decode; bytes of all pools.
Blocks FixedBlocks(const PoolPlan& plan);
Bytes FixedBytes(const PoolPlan& plan);

}  // namespace kvsim

#endif  // KVSIM_ENGINES_CONCURRENCY_H_
