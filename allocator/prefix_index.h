// Prefix keys to block ids: which block to hit for a chain key.
//
// Model:      a key names a whole prefix (base/key_chain.h). Equal blocks that two
//             requests computed both stay: a key holds its blocks in the order of
//             insertion and a look-up returns the first. Nothing de-duplicates.
//             Open addressing with linear probing over 8-byte slots {32 bits of
//             the mixed key, block id}; one 16-byte node per block holds the full
//             key and the ring of blocks with the same key. Deletion shifts the
//             run back, so no tombstones gather.
// Memory:     32 B per block: a 16-byte node and two 8-byte slots.
// Costs:      Find, Insert and Erase touch one slot run and one node; a long ring
//             of equal keys costs nothing extra.
// Errors:     inserting a block twice or erasing an absent one is a check failure.
#ifndef KVSIM_ALLOCATOR_PREFIX_INDEX_H_
#define KVSIM_ALLOCATOR_PREFIX_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <vector>


#include "base/block_id.h"

namespace kvsim {

using BlockKey = uint64_t;

class PrefixIndex {
 public:
  // Room for the ids 0 .. num_blocks-1. REQUIRES: 0 < num_blocks < 2^32 - 1.
  explicit PrefixIndex(int64_t num_blocks);

  // The first block inserted under `key` that is still there, or kNullBlock.
  BlockId Find(BlockKey key) const {
    const uint32_t tag = TagOf(key);
    for (size_t s = Home(tag);; s = Next(s)) {
      const Slot& slot = slots_[s];
      if (slot.id == kNullBlock) return kNullBlock;
      if (slot.tag == tag && nodes_[slot.id].key == key) return slot.id;
    }
  }

  // Adds `id` behind the blocks that already carry `key`.
  // REQUIRES: id != kNullBlock and !Contains(id).
  void Insert(BlockId id, BlockKey key);
  // REQUIRES: Contains(id).
  void Erase(BlockId id);

  bool Contains(BlockId id) const { return nodes_[id].next != kAbsent; }
  // REQUIRES: Contains(id).
  BlockKey KeyOf(BlockId id) const { return nodes_[id].key; }

  int64_t num_keys() const { return num_keys_; }      // distinct
  int64_t num_blocks() const { return num_blocks_; }  // blocks with a key
  int64_t MemoryBytes() const;

  // Brings the slot of `key` into cache ahead of a Find or Insert.
  void Prefetch(BlockKey key) const {
    __builtin_prefetch(&slots_[Home(TagOf(key))]);
  }
  void PrefetchNode(BlockId id) const { __builtin_prefetch(&nodes_[id]); }

 private:
  static constexpr BlockId kAbsent = 0xFFFFFFFFu;
  struct Slot {
    uint32_t tag;
    BlockId id;  // kNullBlock: empty
  };
  struct Node {
    BlockKey key;
    BlockId prev, next;  // ring of blocks with this key; kAbsent: no key
  };

  // High half of a multiplicative hash: every bit of the key reaches it.
  static uint32_t TagOf(BlockKey key) {
    return static_cast<uint32_t>((key * 0x9E3779B97F4A7C15u) >> 32);
  }
  size_t Home(uint32_t tag) const {
    return static_cast<size_t>((tag * static_cast<uint64_t>(slots_.size())) >>
                               32);
  }
  size_t Next(size_t s) const { return s + 1 == slots_.size() ? 0 : s + 1; }
  size_t FindSlot(BlockKey key) const;
  void EraseSlot(size_t hole);

  std::vector<Slot> slots_;
  std::vector<Node> nodes_;
  int64_t num_keys_ = 0;
  int64_t num_blocks_ = 0;
};

}  // namespace kvsim

#endif  // KVSIM_ALLOCATOR_PREFIX_INDEX_H_
