// A cache of prefix blocks that drops keys in the order of their insertion.
//
// Model:      a plain queue, head of a row before its tail. The oldest key
//             goes, whether or not keys that continue it are still cached; a
//             key that is cached is neither moved nor inserted again.
// Memory:     32 B per entry, index included.
#ifndef KVSIM_ALLOCATOR_FIFO_CACHE_H_
#define KVSIM_ALLOCATOR_FIFO_CACHE_H_

#include <cstdint>
#include <span>

#include "allocator/hit_cache.h"
#include "allocator/key_index.h"

namespace kvsim {

class FifoCache final : public HitCache {
 public:
  // REQUIRES: 0 < capacity < 2^31.
  explicit FifoCache(int64_t capacity) : index_(capacity) {}

  int64_t Access(std::span<const uint64_t> row) override;

  int64_t capacity() const override { return index_.capacity(); }
  int64_t size() const override { return index_.size(); }
  int64_t evictions() const override { return evictions_; }

 private:
  void Insert(uint64_t key);

  KeyIndex index_;
  uint32_t next_ = 0;  // entries are reused in rotation: the queue's tail
  int64_t evictions_ = 0;
};

}  // namespace kvsim

#endif  // KVSIM_ALLOCATOR_FIFO_CACHE_H_
