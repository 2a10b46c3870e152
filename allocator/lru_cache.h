// A cache of prefix blocks that drops the least recently used key.
//
// Model:      after the look-up every key of the row becomes the most recent,
//             the last key first: a row's tail is older than its head, so a
//             prefix outlives what hangs on it. That equals a trie whose least
//             recent leaf is evicted. The intrusive list runs oldest to newest
//             through entry numbers; an evicted entry is reused at once.
// Invariants: (1) the list holds every used entry once, links match both ways;
//             (2) the index and the list have the same size.
// Memory:     40 B per entry, index included (MemoryBytes() counts).
// Costs:      about 2 probe runs and 2 list links per key; the row's slots and
//             the next victims' slots are prefetched in groups.
#ifndef KVSIM_ALLOCATOR_LRU_CACHE_H_
#define KVSIM_ALLOCATOR_LRU_CACHE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "allocator/hit_cache.h"
#include "allocator/key_index.h"

namespace kvsim {

class LruCache final : public HitCache {
 public:
  // REQUIRES: 0 < capacity < 2^31.
  explicit LruCache(int64_t capacity);

  int64_t Access(std::span<const uint64_t> row) override;

  // The two halves of Access. CountPrefix changes nothing.
  int64_t CountPrefix(std::span<const uint64_t> row) const;
  void Touch(std::span<const uint64_t> row);

  int64_t capacity() const override { return index_.capacity(); }
  int64_t size() const override { return index_.size(); }
  int64_t evictions() const override { return evictions_; }
  int64_t MemoryBytes() const;

  // Checks the numbered invariants; O(capacity).
  void CheckInvariants() const;

 private:
  static constexpr uint32_t kNone = KeyIndex::kNone;
  struct Links {
    uint32_t older;
    uint32_t newer;
  };

  void PrefetchGroup(std::span<const uint64_t> group) const;
  void MakeNewest(uint64_t key);
  uint32_t TakeEntry();
  void Unlink(uint32_t entry);
  void Append(uint32_t entry);

  KeyIndex index_;
  std::vector<Links> links_;  // by entry
  uint32_t oldest_ = kNone;
  uint32_t newest_ = kNone;
  int64_t evictions_ = 0;
};

}  // namespace kvsim

#endif  // KVSIM_ALLOCATOR_LRU_CACHE_H_
