// The block pool of vLLM's scheduler told plainly.
//
// Model:      a block is a struct with its owners counted and its rows marked one
//             by one. What can be hit is a list: a cache group, the tokens of a
//             whole prefix, and the blocks that end it, in the order in which they
//             got it; prefixes are compared token by token, nothing is hashed. The
//             free queue is a std::list.
// Costs:      whatever they are.
// Source:     the rules of vLLM (2026-08-17) as told beside its recorded runs;
//             not the code it is compared with.
#ifndef KVSIM_ENGINES_VLLM_NAIVE_POOL_H_
#define KVSIM_ENGINES_VLLM_NAIVE_POOL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/block_id.h"
#include "engines/vllm/settings.h"

namespace kvsim::vllm {

class NaivePool {
 public:
  using Ids = std::vector<BlockId>;
  using Tokens = std::vector<int64_t>;
  // A group and a prefix; the prefix is whole blocks (a full key) or ends inside
  // a block (a partial key).
  using Key = std::pair<size_t, Tokens>;

  // REQUIRES: settings.Normalized() made them.
  explicit NaivePool(const Settings& settings);

  // The block that got this key first of those that still have it; null: none.
  BlockId Find(size_t group, std::span<const int64_t> prefix) const;
  bool HasFullKey(BlockId id) const;
  bool HasPartialKey(BlockId id) const;
  bool HasAnyKey(BlockId id) const { return !blocks_[id].keys.empty(); }

  // Leading rows of the block that its keys speak of.
  int64_t KeyedRows(BlockId id) const;

  // The front of the queue for `group`; its keys go. REQUIRES: it is not empty.
  BlockId Pop(size_t group);
  void Touch(BlockId id);  // one owner more
  // By value only: its score, if it was less.
  void Raise(BlockId id, int64_t score) {
    blocks_[id].score = std::max(blocks_[id].score, score);
  }
  // One owner less of each, in order; null entries are passed over.
  void Release(const Ids& ids);
  // False, and nothing happens, when the block has the key.
  bool AddKey(BlockId id, const Key& key);
  void MoveKeys(BlockId from, BlockId to);

  // Rows of a block that are computed.
  std::vector<bool>& Rows(BlockId id) { return blocks_[id].rows; }
  const std::vector<bool>& Rows(BlockId id) const { return blocks_[id].rows; }

  int64_t Owners(BlockId id) const { return blocks_[id].owners; }
  // The group that took it last.
  size_t GroupOf(BlockId id) const { return blocks_[id].group; }
  int64_t NumFree() const { return static_cast<int64_t>(queue_.size()); }
  // In the order in which they would be popped.
  Ids FreeQueue() const;
  int64_t NumDistinctKeys() const { return static_cast<int64_t>(keys_.size()); }
  // Blocks behind the first of each full key.
  Ids Duplicates() const;
  int64_t num_blocks() const { return static_cast<int64_t>(blocks_.size()); }
  int64_t allocations() const { return allocations_; }
  int64_t evictions() const { return evictions_; }
  int64_t evicted_keys() const { return evicted_keys_; }

 private:
  struct Block {
    int64_t owners = 0;
    size_t group = 0;
    int64_t score = 0;
    std::vector<bool> rows;
    std::list<Key> keys;
  };

  // An order in which only prefixes of one length are compared.
  struct ShorterFirst {
    bool operator()(const Key& a, const Key& b) const;
  };

  bool IsFull(const Key& key) const;
  void RemoveKey(BlockId id, const Key& key);

  const Settings settings_;
  std::vector<Block> blocks_;
  std::list<BlockId> queue_;
  std::map<Key, std::list<BlockId>, ShorterFirst> keys_;
  int64_t allocations_ = 0, evictions_ = 0, evicted_keys_ = 0;
};

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_NAIVE_POOL_H_
