// A fixed set of blocks with a free queue, reference counts and prefix keys.
//
// Model:      the queue starts in id order; block 0 is taken out as the null
//             block. Blocks are popped from the front. A block nobody holds goes
//             back to the queue and stays hittable until it is popped again: that
//             moment, and nothing else, evicts its key. Released blocks without a
//             key go to the front (they are worth nothing), those with a key to
//             the back, each in the order of the list; FreeOrder names older
//             habits. Callers release a request's table tail first, so the tail
//             is evicted before the head. In the order by value, blocks without a
//             key are popped first and those with one as their scores say.
// Keys:       a full block has one key. A block that is not full may carry keys of
//             prefixes that end inside it (partial keys, allocator/partial_keys.h);
//             all of them go when the block is popped.
// Groups:     blocks are taken for a cache group; the pool does not care, but it
//             counts by group, and for the ledger it knows how many rows of each
//             block are computed and keeps sums over held blocks.
// Invariants: (1) a block is in the queue exactly when nobody holds it;
//             (2) num_free + num_held = num_blocks − 1;
//             (3) the sums over held blocks equal a recount;
//             (4) the index holds exactly the blocks marked as keyed, and never
//                 the null block.
// Memory:     56 B per block, index included; partial keys come on top.
// Costs:      every operation O(1) per block.
// Errors:     popping more than num_free blocks, releasing a free block: check
//             failures. Callers ask num_free first; "no room" is their decision.
// Source:     vllm/v1/core/block_pool.py and FreeKVCacheBlockQueue (2026-08-17).
#ifndef KVSIM_ALLOCATOR_BLOCK_POOL_H_
#define KVSIM_ALLOCATOR_BLOCK_POOL_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocator/key_listener.h"
#include "allocator/partial_keys.h"
#include "allocator/prefix_index.h"
#include "allocator/value_queue.h"
#include "base/block_id.h"
#include "base/check.h"

namespace kvsim {

enum class FreeOrder : uint8_t {
  kAppend,              // every released block goes to the back (until 2026-06)
  kPrependWhenCaching,  // unkeyed ones to the front only while caching is on
  kPrependUnkeyed,      // unkeyed ones to the front always (since 2026-08-11)
};

enum class EvictionOrder : uint8_t {
  kLeastRecentlyUsed,
  kByValue,  // allocator/value_queue.h
};

class BlockPool {
 public:
  // What the blocks of one cache group add up to.
  struct GroupSums {
    int64_t held = 0;         // blocks somebody holds
    int64_t idle = 0;         // free blocks with a key
    int64_t held_rows = 0;    // computed rows of held blocks
    int64_t shared_rows = 0;  // … of those held twice or more
    int64_t saved_rows = 0;   // Σ(owners − 1)·rows
    friend bool operator==(const GroupSums&, const GroupSums&) = default;
  };

  // REQUIRES: 1 < num_blocks < 2^31; 0 < num_groups <= 256.
  BlockPool(int64_t num_blocks, bool prefix_caching, FreeOrder free_order,
            int num_groups = 1,
            EvictionOrder order = EvictionOrder::kLeastRecentlyUsed);

  // --- look-up -------------------------------------------------------------
  BlockId Find(BlockKey key) const { return index_.Find(key); }
  void PrefetchKey(BlockKey key) const { index_.Prefetch(key); }
  BlockId FindPartial(BlockKey key) const { return partial_.Find(key); }
  bool HasKey(BlockId id) const { return blocks_[id].keyed; }
  // REQUIRES: HasKey(id).
  BlockKey KeyOf(BlockId id) const { return index_.KeyOf(id); }
  bool HasPartialKey(BlockId id) const { return blocks_[id].partial; }
  bool HasAnyKey(BlockId id) const {
    return blocks_[id].keyed || blocks_[id].partial;
  }
  int64_t RefCount(BlockId id) const { return blocks_[id].refs; }

  // --- taking and giving back ------------------------------------------------
  // Pops n blocks from the front into out, each held once by `group`; keys they
  // still carried are dropped now. REQUIRES: n <= num_free().
  void Allocate(int64_t n, std::vector<BlockId>* out, int group = 0);
  // One more owner of a block that was hit.
  void Touch(BlockId id);
  // One owner less of each block of `table`, last entry first; null entries are
  // passed over.
  void ReleaseReversed(std::span<const BlockId> table);
  // Makes held blocks hittable. REQUIRES: held, no keys yet, caching on.
  void AssignKey(BlockId id, BlockKey key);
  void AssignKeys(std::span<const BlockId> blocks,
                  std::span<const BlockKey> keys);
  // One more prefix that ends inside a held block. Nothing happens when the block
  // carries the key already. REQUIRES: held, caching on.
  void AssignPartialKey(BlockId id, BlockKey key);
  // Hands all partial keys of a held block to another held block.
  void MovePartialKeys(BlockId from, BlockId to);

  // A held block is worth this much to later requests from now on, or more. Of use
  // by value only. REQUIRES: held.
  void RaiseValue(BlockId id, int64_t score) {
    KVSIM_CHECK(blocks_[id].refs > 0 && by_value_.has_value());
    by_value_->Raise(id, score);
  }

  // --- rows --------------------------------------------------------------------
  // n more rows of a held block are computed.
  void AddRows(BlockId id, int64_t n) {
    Block& block = blocks_[id];
    KVSIM_CHECK(block.refs > 0);
    GroupSums& sums = groups_[block.group];
    block.rows += static_cast<uint32_t>(n);
    sums.held_rows += n;
    if (block.refs > 1) {
      sums.shared_rows += n;
      sums.saved_rows += (block.refs - 1) * n;
    }
  }
  // n more rows of each, all taken for `group`; null entries are passed over.
  void AddRowsToEach(std::span<const BlockId> ids, int64_t n, int group);
  int64_t Rows(BlockId id) const { return blocks_[id].rows; }

  // --- watching a refused request's hit -----------------------------------------
  // A look-up that found `hit` and missed `missed` stays right, and so does its
  // count of unheld blocks, until WatchBroken(); that may come too early (missed
  // keys are kept as a few bits), never too late. Null entries of `hit` are passed
  // over. One watch at a time; setting a new one drops the old. O(hit blocks +
  // missed keys) to set and drop.
  void Watch(std::span<const BlockId> hit, std::span<const BlockKey> missed);
  void Unwatch();
  bool WatchBroken() const { return watch_broken_; }

  // Told of every key given and dropped from now on; null: nobody. Kept; must
  // outlive its use.
  void SetKeyListener(KeyListener* listener) { key_listener_ = listener; }

  // --- levels ---------------------------------------------------------------------
  int64_t num_blocks() const { return static_cast<int64_t>(blocks_.size()); }
  int64_t num_free() const { return num_free_; }  // free or idle
  int64_t num_held() const { return num_blocks() - 1 - num_free_; }
  int64_t num_idle() const { return num_idle_; }  // free with a key
  int64_t num_keys() const { return index_.num_keys() + partial_.num_keys(); }
  int64_t num_keyed_blocks() const { return index_.num_blocks(); }
  // Blocks whose key an earlier block carries.
  int64_t num_duplicates() const {
    return index_.num_blocks() - index_.num_keys();
  }
  const GroupSums& group(int g) const {
    return groups_[static_cast<size_t>(g)];
  }
  int num_groups() const { return static_cast<int>(groups_.size()); }
  int64_t allocations() const { return allocations_; }    // ever
  int64_t evictions() const { return evictions_; }        // ever
  int64_t evicted_keys() const { return evicted_keys_; }  // by those, ever
  bool prefix_caching() const { return prefix_caching_; }

  // --- inspection (tests and recorders; O(blocks)) ------------------------------
  std::vector<BlockId> FreeQueue() const;
  // The group that took the block last.
  int GroupOf(BlockId id) const { return blocks_[id].group; }
  // Invariants (1) to (4); empty when sound, else what is wrong.
  std::string CheckInvariants() const;
  int64_t MemoryBytes() const;

 private:
  struct Block {
    BlockId prev, next;  // free queue; the null block is its sentinel
    uint32_t rows;
    uint32_t refs : 21;
    uint32_t keyed : 1;    // the index has it: says so without asking the index
    uint32_t partial : 1;  // likewise of partial_
    uint32_t watched : 1;
    uint32_t group : 8;
  };

  // How far memory accesses are announced ahead of their use.
  static constexpr size_t kBatch = 16;

  void QueueLeastValued(int64_t n);
  void TakeFromQueue(BlockId id, int group);
  void DropKeys(BlockId id);
  void TellDropped(BlockId id);
  void Unlink(BlockId id);
  void LinkBetween(BlockId id, BlockId before, BlockId after);
  void NoteWatched(const Block& block) {
    if (block.watched) watch_broken_ = true;
  }
  void NoteNewKey(BlockKey key) {
    if (!missed_.empty() && MissedBit(key)) watch_broken_ = true;
  }
  size_t MissedSlot(BlockKey key) const {
    return static_cast<size_t>((key * 0x9E3779B97F4A7C15u) >> missed_shift_);
  }
  bool MissedBit(BlockKey key) const {
    const size_t slot = MissedSlot(key);
    return (missed_[slot / 64] >> (slot % 64)) & 1;
  }

  std::vector<Block> blocks_;
  PrefixIndex index_;
  PartialKeys partial_;
  std::optional<ValueQueue> by_value_;  // idle blocks, when they go by value
  const bool prefix_caching_;
  const FreeOrder free_order_;
  KeyListener* key_listener_ = nullptr;
  std::vector<GroupSums> groups_;
  int64_t num_free_ = 0, num_idle_ = 0;
  int64_t allocations_ = 0, evictions_ = 0, evicted_keys_ = 0;
  std::vector<BlockId> watched_;
  std::vector<uint64_t> missed_;  // a Bloom filter of one hash; empty: none
  int missed_shift_ = 0;
  bool watch_broken_ = true;
};

}  // namespace kvsim

#endif  // KVSIM_ALLOCATOR_BLOCK_POOL_H_
