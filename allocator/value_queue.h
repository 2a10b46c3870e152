// Idle blocks in the order in which they are worth the least.
//
// Model:      every block has a score, which only rises until it is forgotten;
//             equal scores leave in the order in which they came.
// Memory:     16 B per block of the pool, about 64 B per queued block.
// Costs:      O(log queued blocks) each.
// Source:     greedy-dual caching (Cao and Irani, 1997): order by last use plus
//             cost per byte, here with scores the caller makes.
#ifndef KVSIM_ALLOCATOR_VALUE_QUEUE_H_
#define KVSIM_ALLOCATOR_VALUE_QUEUE_H_

#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "base/block_id.h"
#include "base/check.h"

namespace kvsim {

class ValueQueue {
 public:
  explicit ValueQueue(int64_t num_blocks)
      : scores_(static_cast<size_t>(num_blocks), 0),
        places_(static_cast<size_t>(num_blocks), 0) {}

  // A block keeps the highest score it was given. REQUIRES: not queued.
  void Raise(BlockId id, int64_t score) {
    int64_t& own = scores_[id];
    if (score > own) own = score;
  }
  // REQUIRES: not queued.
  void Push(BlockId id) {
    places_[id] = ++last_place_;
    queue_.emplace(scores_[id], places_[id], id);
  }
  // REQUIRES: queued.
  void Remove(BlockId id) {
    KVSIM_CHECK(queue_.erase({scores_[id], places_[id], id}) == 1);
  }
  // The score falls to 0. REQUIRES: not queued.
  void Forget(BlockId id) { scores_[id] = 0; }
  // The block worth the least. REQUIRES: not empty.
  BlockId Pop() {
    KVSIM_CHECK(!queue_.empty());
    const BlockId id = std::get<2>(*queue_.begin());
    queue_.erase(queue_.begin());
    return id;
  }
  int64_t size() const { return static_cast<int64_t>(queue_.size()); }
  // Worth the least first. O(size).
  std::vector<BlockId> InOrder() const {
    std::vector<BlockId> ids;
    for (const auto& [score, place, id] : queue_) ids.push_back(id);
    return ids;
  }

 private:
  std::vector<int64_t> scores_, places_;  // by block
  int64_t last_place_ = 0;
  std::set<std::tuple<int64_t, int64_t, BlockId>> queue_;
};

}  // namespace kvsim

#endif  // KVSIM_ALLOCATOR_VALUE_QUEUE_H_
