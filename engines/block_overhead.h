// What blocks cost beside rows and states: padding, the empty end of the last
// block, the tables that say where blocks are.
//
// Units:   bytes on one rank. Costs: O(groups).

#ifndef KVSIM_ENGINES_BLOCK_OVERHEAD_H_
#define KVSIM_ENGINES_BLOCK_OVERHEAD_H_

#include <cstdint>

#include "base/units.h"
#include "engines/pool_plan.h"
#include "engines/state_mode.h"

namespace kvsim {

// True of groups whose rows are every token's: not of windows, not of states,
// not even of one state per block.
bool KeepsEveryRow(const CacheGroup& group);

// Bytes of pages and blocks that one request of `length` tokens pads in steady
// decode. Saturates.
Bytes PaddingOfRequest(const PoolPlan& plan, Tokens length);

// Rows that the last block of a request has and its tokens do not need, summed
// over the groups that keep every row.
struct TailSlack {
  int64_t tokens = 0;  // of all context ranks
  Bytes bytes;         // a rank's share, rounded down
};

// REQUIRES: 0 <= length <= 2^40.
TailSlack TailSlackOf(const PoolPlan& plan, Tokens length);

// The engine's tables of 4-byte block ids: a row for each of `max_num_seqs`
// requests, as wide as a request of the maximum length needs, one table per
// group. Tables are indexed by position: those of windows and aligned states
// are as wide as those of full history. Saturates.
// Source: vLLM main of 2026-08, v1/worker/block_table.py. Not counted: rows that
// a kernel with smaller blocks than the engine's makes wider, and alignment.
Bytes BlockTableBytes(const PoolPlan& plan, StateMode state_mode,
                      int64_t speculative_tokens, int64_t max_num_seqs);

}  // namespace kvsim

#endif  // KVSIM_ENGINES_BLOCK_OVERHEAD_H_
