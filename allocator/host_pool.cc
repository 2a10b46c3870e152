#include "allocator/host_pool.h"

#include "base/check.h"

namespace kvsim {

BlockId HostPool::Take() {
  KVSIM_CHECK(num_free() > 0);
  if (returned_.empty()) return static_cast<BlockId>(never_taken_++);
  const BlockId id = *returned_.begin();
  returned_.erase(returned_.begin());
  return id;
}

void HostPool::Release(BlockId id) {
  KVSIM_CHECK(id < never_taken_ && returned_.insert(id).second) << id;
}

}  // namespace kvsim
