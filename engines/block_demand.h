// How many blocks one request holds in one cache group, as a function of its
// length.
//
// Model:   blocks = ceil(tokens kept / block) + a constant. What is kept is the
//          whole sequence, the window (or chunk) plus the tokens in flight, or
//          nothing that grows. A recurrent state is all constant.
// Two answers: while a prefill is in flight a window group also holds the
//          scheduled tokens; in steady decode only the few of a decode step.
//          Engines gate admission by the first, memory is held by the second.
// Units:   tokens of the sequence; `sharded_over` ranks each keep 1/n of them.

#ifndef KVSIM_ENGINES_BLOCK_DEMAND_H_
#define KVSIM_ENGINES_BLOCK_DEMAND_H_

#include <cstdint>

#include "base/units.h"

namespace kvsim {

struct BlockDemand {
  enum class Kind {
    kAllHistory,  // every token since the start
    kWindow,      // the last `reach` + in-flight tokens, plus a straddled block
    kChunk,       // the current chunk of `reach` tokens + in-flight tokens
    kPerSequence,  // a constant: recurrent state, pooled tails
  };

  Kind kind = Kind::kAllHistory;
  Tokens block_tokens{1};     // covered by one block on one rank
  int64_t sharded_over = 1;   // decode-context ranks (kAllHistory only)
  Tokens reach{0};            // window - 1, the chunk, the encoder's tokens
  Blocks constant_worst{0};   // held besides, in the engine's worst case
  Blocks constant_steady{0};  // held besides, in steady decode
};

// The engine's worst case for a request of `length` tokens while `in_flight`
// tokens may be scheduled and not yet computed.
// REQUIRES: length >= 0, in_flight >= 0, block_tokens > 0, sharded_over > 0.
Blocks WorstCaseBlocks(const BlockDemand& demand, Tokens length,
                       Tokens in_flight);

// What the request holds once it only decodes, `in_flight` tokens at a time.
// Never more than its length needs.
Blocks SteadyBlocks(const BlockDemand& demand, Tokens length, Tokens in_flight);

// Leading blocks that requests with `prefix` tokens in common can share while
// all of them run: whole blocks of full history, nothing of windows or states.
Blocks ShareableBlocks(const BlockDemand& demand, Tokens prefix);

}  // namespace kvsim

#endif  // KVSIM_ENGINES_BLOCK_DEMAND_H_
