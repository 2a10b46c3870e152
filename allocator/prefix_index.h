// Prefix keys to block ids: which block to hit for a chain key.
//
// Model:      a key names a whole prefix (base/key_chain.h). Equal blocks that two
//             requests computed both stay: a key holds its blocks in the order of
//             insertion and a look-up returns the first. Nothing de-duplicates.
//             KeyIndex finds the first; the others stand in a ring behind it.
// Memory:     40 B per block: 32 in KeyIndex and 8 for the ring.
// Costs:      Find, Insert and Erase touch one slot run, one key and one ring
//             entry; a long ring of equal keys costs nothing extra.
// Errors:     inserting a block twice or erasing an absent one is a check failure.
#ifndef KVSIM_ALLOCATOR_PREFIX_INDEX_H_
#define KVSIM_ALLOCATOR_PREFIX_INDEX_H_

#include <cstdint>
#include <vector>

#include "allocator/key_index.h"
#include "base/block_id.h"

namespace kvsim {

using BlockKey = uint64_t;

class PrefixIndex {
 public:
  // Room for the ids 0 .. num_blocks-1. REQUIRES: 0 < num_blocks < 2^31.
  explicit PrefixIndex(int64_t num_blocks);

  // The first block inserted under `key` that is still there, or kNullBlock.
  BlockId Find(BlockKey key) const {
    const uint32_t first = first_.Find(key);
    return first == KeyIndex::kNone ? kNullBlock : first;
  }

  // Adds `id` behind the blocks that already carry `key`.
  // REQUIRES: id != kNullBlock and !Contains(id).
  void Insert(BlockId id, BlockKey key);
  // REQUIRES: Contains(id).
  void Erase(BlockId id);

  bool Contains(BlockId id) const { return ring_[id].next != kAbsent; }
  // REQUIRES: Contains(id).
  BlockKey KeyOf(BlockId id) const { return first_.KeyOf(id); }

  int64_t num_keys() const { return first_.size(); }  // distinct
  int64_t num_blocks() const { return num_blocks_; }  // blocks with a key
  int64_t MemoryBytes() const;

  // Brings the slot of `key` into cache ahead of a Find or Insert.
  void Prefetch(BlockKey key) const { first_.Prefetch(key); }
  // Brings what Contains and KeyOf read into cache.
  void PrefetchBlock(BlockId id) const {
    __builtin_prefetch(&ring_[id]);
    first_.PrefetchKeyOf(id);
  }

 private:
  static constexpr BlockId kAbsent = 0xFFFFFFFFu;
  struct Neighbours {    // in the ring of blocks with one key
    BlockId prev, next;  // kAbsent: no key
  };

  KeyIndex first_;  // entries are block ids
  std::vector<Neighbours> ring_;
  int64_t num_blocks_ = 0;
};

}  // namespace kvsim

#endif  // KVSIM_ALLOCATOR_PREFIX_INDEX_H_
