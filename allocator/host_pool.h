// A fixed set of blocks of host memory that requests are swapped out to.
//
// Model:      blocks 0 … n−1, taken lowest free first; nothing is shared and nothing
//             is cached, so a block is free or somebody's.
// Costs:      O(log blocks that were given back) a block; memory for those only.
// Errors:     taking more than num_free, releasing a free block: check failures.
#ifndef KVSIM_ALLOCATOR_HOST_POOL_H_
#define KVSIM_ALLOCATOR_HOST_POOL_H_

#include <cstdint>
#include <set>

#include "base/block_id.h"

namespace kvsim {

class HostPool {
 public:
  // REQUIRES: 0 <= num_blocks < 2^32.
  explicit HostPool(int64_t num_blocks) : num_blocks_(num_blocks) {}

  // The lowest free block. REQUIRES: num_free() > 0.
  BlockId Take();
  void Release(BlockId id);

  int64_t num_blocks() const { return num_blocks_; }
  int64_t num_held() const {
    return never_taken_ - static_cast<int64_t>(returned_.size());
  }
  int64_t num_free() const { return num_blocks_ - num_held(); }

 private:
  const int64_t num_blocks_;
  int64_t never_taken_ = 0;  // blocks from here on were never taken
  std::set<BlockId> returned_;
};

}  // namespace kvsim

#endif  // KVSIM_ALLOCATOR_HOST_POOL_H_
