// Where a prefill chunk must end so that recurrent states can be found again.
//
// Model:      a state can only be hit where a chunk ended. While a prompt is being
//             computed a chunk therefore ends at the first of: the next block
//             boundary when it starts inside a block, the junction, the last whole
//             block of the tokens known (one block earlier with a draft model), the
//             prompt's last hash unit (fine hits); otherwise it is cut down to whole
//             blocks, except that blocks larger than any chunk are filled in parts.
// Units:      tokens.
// Source:     scheduler.py _mamba_block_aligned_split (2026-08-17).
#ifndef KVSIM_ENGINES_VLLM_ALIGNED_CHUNK_H_
#define KVSIM_ENGINES_VLLM_ALIGNED_CHUNK_H_

#include <cstdint>

#include "engines/vllm/checkpoint_policy.h"

namespace kvsim::vllm {

struct ChunkRules {
  int64_t block = 16;      // --block-size
  int64_t unit = 0;        // hash unit of fine hits; 0: hits are whole blocks
  int64_t largest = 2048;  // tokens a chunk may have at most
  bool drops_last_hit = false;
  bool realigns = true;  // chunks that start inside a block end with it
  // Boundaries of a checkpoint policy; a chunk ends at the next of them too.
  CheckpointSpacing checkpoints;
};

// The tokens of a chunk that starts behind `start` computed tokens and may have n;
// 0: wait for more budget.
int64_t AlignedChunk(const ChunkRules& rules, int64_t start, int64_t n,
                     int64_t num_tokens, int64_t num_prompt, int64_t junction);

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_ALIGNED_CHUNK_H_
