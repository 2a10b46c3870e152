// BlockPool told plainly, for tests: a list, a vector, nothing counted ahead.
//
// The same operations under the same names, so that one program drives both.
// Every level is recounted when it is asked for; a look-up reads all keys in the
// order in which they were assigned.
#ifndef KVSIM_ALLOCATOR_NAIVE_BLOCK_POOL_H_
#define KVSIM_ALLOCATOR_NAIVE_BLOCK_POOL_H_

#include <algorithm>
#include <cstdint>
#include <list>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "allocator/block_pool.h"
#include "base/block_id.h"

namespace kvsim {

class NaiveBlockPool {
 public:
  NaiveBlockPool(int64_t num_blocks, bool prefix_caching, FreeOrder free_order)
      : blocks_(static_cast<size_t>(num_blocks)),
        prefix_caching_(prefix_caching),
        free_order_(free_order) {
    for (BlockId id = 1; id < blocks_.size(); ++id) queue_.push_back(id);
  }

  BlockId Find(BlockKey key) const {
    for (const auto& [assigned, id] : keys_) {
      if (assigned == key) return id;
    }
    return kNullBlock;
  }
  bool HasKey(BlockId id) const {
    return std::any_of(keys_.begin(), keys_.end(),
                       [id](const auto& k) { return k.second == id; });
  }
  int64_t RefCount(BlockId id) const { return blocks_[id].refs; }

  void Allocate(int64_t n, std::vector<BlockId>* out) {
    for (; n > 0; --n) {
      const BlockId id = queue_.front();
      queue_.pop_front();
      if (HasKey(id)) ++evictions_;
      keys_.remove_if([id](const auto& k) { return k.second == id; });
      blocks_[id] = {1, 0};
      out->push_back(id);
      ++allocations_;
    }
  }
  void Touch(BlockId id) {
    if (blocks_[id].refs++ == 0) queue_.remove(id);
  }
  void ReleaseReversed(std::span<const BlockId> table) {
    std::list<BlockId> worthless, keyed;
    for (size_t i = table.size(); i-- > 0;) {
      const BlockId id = table[i];
      if (id == kNullBlock || --blocks_[id].refs > 0) continue;
      const bool prepend =
          !HasKey(id) &&
          (free_order_ == FreeOrder::kPrependUnkeyed ||
           (free_order_ == FreeOrder::kPrependWhenCaching && prefix_caching_));
      (prepend ? worthless : keyed).push_back(id);
    }
    queue_.splice(queue_.begin(), worthless);
    queue_.splice(queue_.end(), keyed);
  }
  void AssignKey(BlockId id, BlockKey key) { keys_.emplace_back(key, id); }
  void AddRows(BlockId id, int64_t n) { blocks_[id].rows += n; }
  int64_t Rows(BlockId id) const { return blocks_[id].rows; }

  int64_t num_blocks() const { return static_cast<int64_t>(blocks_.size()); }
  int64_t num_free() const { return static_cast<int64_t>(queue_.size()); }
  int64_t num_held() const {
    return SumHeld([](const Block&) { return 1; });
  }
  int64_t num_idle() const {
    return std::count_if(queue_.begin(), queue_.end(),
                         [this](BlockId id) { return HasKey(id); });
  }
  int64_t num_keys() const {
    std::set<BlockKey> distinct;
    for (const auto& k : keys_) distinct.insert(k.first);
    return static_cast<int64_t>(distinct.size());
  }
  int64_t num_keyed_blocks() const {
    return static_cast<int64_t>(keys_.size());
  }
  int64_t held_rows() const {
    return SumHeld([](const Block& b) { return b.rows; });
  }
  int64_t shared_rows() const {
    return SumHeld([](const Block& b) { return b.refs > 1 ? b.rows : 0; });
  }
  int64_t saved_rows() const {
    return SumHeld([](const Block& b) { return (b.refs - 1) * b.rows; });
  }
  int64_t allocations() const { return allocations_; }
  int64_t evictions() const { return evictions_; }
  std::vector<BlockId> FreeQueue() const {
    return {queue_.begin(), queue_.end()};
  }

 private:
  struct Block {
    int64_t refs = 0, rows = 0;
  };

  template <typename Value>
  int64_t SumHeld(Value value) const {
    int64_t sum = 0;
    for (const Block& block : blocks_) {
      if (block.refs > 0) sum += value(block);
    }
    return sum;
  }

  std::vector<Block> blocks_;
  std::list<BlockId> queue_;
  std::list<std::pair<BlockKey, BlockId>> keys_;  // in order of assignment
  const bool prefix_caching_;
  const FreeOrder free_order_;
  int64_t allocations_ = 0, evictions_ = 0;
};

}  // namespace kvsim

#endif  // KVSIM_ALLOCATOR_NAIVE_BLOCK_POOL_H_
