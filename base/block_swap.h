// One block that leaves for host memory or comes back: what becomes a pair of
// SwapBlocks (base/page_op.h).
#ifndef KVSIM_BASE_BLOCK_SWAP_H_
#define KVSIM_BASE_BLOCK_SWAP_H_

#include "base/block_id.h"

namespace kvsim {

struct BlockSwap {
  int group = 0;
  BlockId device = kNullBlock;
  BlockId host = 0;  // of the host pool, which has no null block

  friend bool operator==(const BlockSwap&, const BlockSwap&) = default;
};

}  // namespace kvsim

#endif  // KVSIM_BASE_BLOCK_SWAP_H_
