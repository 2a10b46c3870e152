// A cache of prefix blocks that knows only keys: nothing is pinned or computed.
//
// Model:      at most capacity() keys. A row of keys (a prompt's blocks, head
//             to tail) hits its longest prefix of cached keys; then the whole
//             row passes through the cache, and the policy decides what stays.
// Threads:    one per cache.
#ifndef KVSIM_ALLOCATOR_HIT_CACHE_H_
#define KVSIM_ALLOCATOR_HIT_CACHE_H_

#include <cstdint>
#include <span>

namespace kvsim {

class HitCache {
 public:
  virtual ~HitCache() = default;

  // Looks the row up, then lets it in. Returns how many leading keys were all
  // cached before. REQUIRES: the keys of a row differ from one another.
  virtual int64_t Access(std::span<const uint64_t> row) = 0;

  virtual int64_t capacity() const = 0;
  virtual int64_t size() const = 0;
  // Keys dropped to make room since construction.
  virtual int64_t evictions() const = 0;
};

}  // namespace kvsim

#endif  // KVSIM_ALLOCATOR_HIT_CACHE_H_
