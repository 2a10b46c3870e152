// Where this rank stores the tokens of a batch.
//
// Model:      token i of the batch stands at position positions[i] of the sequence
//             whose range of query_starts holds i. A manager block covers
//             block_tokens · ranks positions; its entry in the sequence's block
//             table is the page on every rank. Ranks take turns of `interleave`
//             positions inside it, so the token belongs to rank
//               (p mod (block_tokens · ranks)) / interleave mod ranks
//             and its slot is page · block_tokens + its place among that rank's
//             positions. A token of another rank, and the padding behind the batch
//             (CUDA graphs run padded batches), gets kNoSlot.
// Shapes:     query_starts [num_sequences + 1], block_tables [num_sequences]
//             [table_stride], positions [num_tokens], slots [num_padded].
// Units:      tokens; slots are rows of this rank.
// Costs:      O(num_padded · log num_sequences); 12 bytes read and 8 written a token.
// Errors:     BadArgument naming the argument; positions must lie in their table,
//             which is not checked.
// Source:     vLLM, v1/worker/block_table.py (2026-08-17), decode context
//             parallelism.
#ifndef KVSIM_KERNELS_SLOT_MAPPING_H_
#define KVSIM_KERNELS_SLOT_MAPPING_H_

#include <cstdint>

#include "base/block_id.h"
#include "base/page_op.h"
#include "kernels/host_device.h"
#include "kernels/launch.h"
#include "kernels/ragged_starts.h"
#include "kernels/rank_share.h"

namespace kvsim {

struct SlotMappingArgs {
  RankShare share;
  const int32_t* query_starts = nullptr;
  const BlockId* block_tables = nullptr;
  int32_t num_sequences = 0;
  int64_t table_stride = 0;
  const int64_t* positions = nullptr;
  int64_t num_tokens = 0;
  int64_t num_padded = 0;  // at least num_tokens
  int64_t* slots = nullptr;

  // The sequence of a token: the last one that starts at or before it and is not
  // empty.
  KVSIM_HOST_DEVICE int32_t SequenceOf(int64_t token) const {
    return ListOf(query_starts, num_sequences, token);
  }

  KVSIM_HOST_DEVICE int64_t SlotOf(int64_t token) const {
    if (token >= num_tokens) return kNoSlot;
    const int64_t position = positions[token];
    if (!share.Owns(position)) return kNoSlot;
    const BlockId* table = block_tables + SequenceOf(token) * table_stride;
    const int64_t block = table[position / share.ManagerTokens()];
    return block * share.block_tokens + share.RowOf(position);
  }
};

// What both check.
LaunchStatus CheckSlotMapping(const SlotMappingArgs& args);

LaunchStatus SlotMappingOnHost(const SlotMappingArgs& args);
LaunchStatus LaunchSlotMapping(const SlotMappingArgs& args,
                               DeviceStream stream);

}  // namespace kvsim

#endif  // KVSIM_KERNELS_SLOT_MAPPING_H_
