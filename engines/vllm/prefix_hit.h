// The cached prefix that a look-up found, group by group.
#ifndef KVSIM_ENGINES_VLLM_PREFIX_HIT_H_
#define KVSIM_ENGINES_VLLM_PREFIX_HIT_H_

#include <cstdint>
#include <vector>

#include "base/block_id.h"

namespace kvsim::vllm {

struct GroupHit {
  int64_t nulls = 0;            // leading entries that need no block
  std::vector<BlockId> blocks;  // the entries behind them, no nulls
  int64_t unheld = 0;  // of which nobody holds: touching them costs free blocks

  int64_t size() const { return nulls + static_cast<int64_t>(blocks.size()); }
};

// Valid until the next call that changes the pool.
struct PrefixHit {
  int64_t tokens = 0;    // served from the cache, the same in every group
  int64_t junction = 0;  // a longer prefix that some group has; 0: none
  std::vector<GroupHit> groups;
};

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_PREFIX_HIT_H_
