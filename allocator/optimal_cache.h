// The cache of prefix blocks that knows the future: no policy hits more.
//
// Model:      Belady's rule on whole rows. The next use of a key is the next
//             row that contains it. Keys enter head to tail; the victim is the
//             cached key with the farthest next use, among equals the deepest
//             in its row; a key whose own next use is not nearer than the
//             victim's is not let in. Keys are prefix-chained, so a key always
//             stands at the same depth.
// Invariants: (1) at most capacity() keys are cached;
//             (2) every cached key has its current next use in the queue.
// Memory:     about 40 B per distinct key and 12 B per reference.
// Costs:      O(log keys) per key of a row.
// Source:     L. A. Belady, "A study of replacement algorithms", 1966.
#ifndef KVSIM_ALLOCATOR_OPTIMAL_CACHE_H_
#define KVSIM_ALLOCATOR_OPTIMAL_CACHE_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <span>
#include <vector>

#include "allocator/hit_cache.h"
#include "allocator/key_rows.h"

namespace kvsim {

class OptimalCache final : public HitCache {
 public:
  // `future` is every row that Access will be given, in that order; it is
  // read here only. REQUIRES: capacity > 0; fewer than 2^31 rows and keys.
  OptimalCache(int64_t capacity, const KeyRows& future);

  // REQUIRES: the row is the next one of `future`.
  int64_t Access(std::span<const uint64_t> row) override;

  int64_t capacity() const override { return capacity_; }
  int64_t size() const override { return size_; }
  int64_t evictions() const override { return evictions_; }

 private:
  static constexpr int32_t kNever = 0x7FFFFFFF;

  struct KeyState {
    int32_t next_use = kNever;
    bool cached = false;
  };
  // Ordered by who goes first: the largest is the victim.
  struct Candidate {
    int32_t next_use;
    int32_t depth;
    uint32_t key;
    friend auto operator<=>(const Candidate&, const Candidate&) = default;
  };

  void Admit(const Candidate& candidate);
  void DropStale();

  int64_t capacity_;
  std::vector<uint32_t> key_of_;   // by reference: the key's dense number
  std::vector<int32_t> next_use_;  // by reference: the next row with that key
  std::vector<KeyState> keys_;     // by dense number
  // Cached keys by next use; entries whose key moved on are skipped later.
  std::priority_queue<Candidate> queue_;
  size_t position_ = 0;  // references consumed
  int64_t size_ = 0;
  int64_t evictions_ = 0;
};

}  // namespace kvsim

#endif  // KVSIM_ALLOCATOR_OPTIMAL_CACHE_H_
