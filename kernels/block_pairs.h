// Lists of (from, to) blocks: whether they may be copied in any order, and which
// neighbours are one range of memory.
//
// Model:      a copy runs its pairs in no particular order, so no block may be the
//             target of two pairs, nor the source of one and the target of
//             another. Sources may repeat: a fork copies one page to many.
// Costs:      O(pairs); a check also clears a byte for every block up to the largest
//             one named.
// Errors:     PairsCheck: a status and the first pair at fault; blocks outside
//             their pool come first.
#ifndef KVSIM_KERNELS_BLOCK_PAIRS_H_
#define KVSIM_KERNELS_BLOCK_PAIRS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/block_id.h"
#include "kernels/launch.h"

namespace kvsim {

struct BlockPair {
  BlockId from = kNullBlock;
  BlockId to = kNullBlock;

  bool operator==(const BlockPair&) const = default;
};

// Pairs (from, to), (from + 1, to + 1) … up to count of them.
struct BlockRun {
  BlockId from = kNullBlock;
  BlockId to = kNullBlock;
  int64_t count = 0;

  bool operator==(const BlockRun&) const = default;
};

struct PairsCheck {
  LaunchStatus status;
  int64_t index = -1;  // of the first pair that the ones before it do not allow

  bool ok() const { return status.ok(); }
};

// For copies within one pool.
PairsCheck CheckCopyPairs(std::span<const BlockPair> pairs, int64_t num_blocks);

// For copies from one pool to another.
PairsCheck CheckSwapPairs(std::span<const BlockPair> pairs,
                          int64_t num_from_blocks, int64_t num_to_blocks);

// How many pairs from the first one on are one run; 0 of an empty list.
int64_t RunLength(std::span<const BlockPair> pairs);

std::vector<BlockRun> MergeRuns(std::span<const BlockPair> pairs);

}  // namespace kvsim

#endif  // KVSIM_KERNELS_BLOCK_PAIRS_H_
