#include "allocator/block_pool.h"

#include <algorithm>
#include <string>

namespace kvsim {

BlockPool::BlockPool(int64_t num_blocks, bool prefix_caching,
                     FreeOrder free_order, int num_groups, EvictionOrder order)
    : index_(num_blocks),
      prefix_caching_(prefix_caching),
      free_order_(free_order) {
  KVSIM_CHECK(num_blocks > 1);
  KVSIM_CHECK(num_groups > 0 && num_groups <= 256);
  if (order == EvictionOrder::kByValue) by_value_.emplace(num_blocks);
  groups_.resize(static_cast<size_t>(num_groups));
  blocks_.resize(static_cast<size_t>(num_blocks));
  const BlockId last = static_cast<BlockId>(num_blocks - 1);
  for (BlockId id = 0; id <= last; ++id) {
    blocks_[id] = {
        id == 0 ? last : id - 1, id == last ? 0 : id + 1, 0, 0, 0, 0, 0, 0};
  }
  num_free_ = num_blocks - 1;
}

void BlockPool::Unlink(BlockId id) {
  const Block& block = blocks_[id];
  blocks_[block.prev].next = block.next;
  blocks_[block.next].prev = block.prev;
}

void BlockPool::LinkBetween(BlockId id, BlockId before, BlockId after) {
  blocks_[id].prev = before;
  blocks_[id].next = after;
  blocks_[before].next = id;
  blocks_[after].prev = id;
}

// In three passes over a few blocks at a time, so that the memory of the index
// is on its way before it is needed.
void BlockPool::Allocate(int64_t n, std::vector<BlockId>* out, int group) {
  KVSIM_CHECK(n <= num_free_);
  KVSIM_CHECK(group >= 0 && group < num_groups());
  if (by_value_.has_value()) QueueLeastValued(n);
  const size_t first = out->size();
  const size_t end = first + static_cast<size_t>(n);
  BlockId id = blocks_[kNullBlock].next;
  for (size_t begin = first; begin < end; begin += kBatch) {
    const size_t stop = std::min(end, begin + kBatch);
    for (size_t i = begin; i < stop; ++i) {
      if (blocks_[id].keyed) index_.PrefetchBlock(id);
      out->push_back(id);
      id = blocks_[id].next;
    }
    for (size_t i = begin; i < stop; ++i) {
      const BlockId taken = (*out)[i];
      if (HasKey(taken)) index_.Prefetch(index_.KeyOf(taken));
    }
    for (size_t i = begin; i < stop; ++i) TakeFromQueue((*out)[i], group);
  }
  blocks_[kNullBlock].next = id;
  blocks_[id].prev = kNullBlock;
  num_free_ -= n;
  groups_[static_cast<size_t>(group)].held += n;
  allocations_ += n;
}

// Appends idle blocks to the free queue until it holds n.
void BlockPool::QueueLeastValued(int64_t n) {
  for (int64_t queued = num_free_ - by_value_->size(); queued < n; ++queued) {
    const BlockId id = by_value_->Pop();
    LinkBetween(id, blocks_[kNullBlock].prev, kNullBlock);
  }
}

void BlockPool::TakeFromQueue(BlockId id, int group) {
  Block& block = blocks_[id];
  if (block.keyed || block.partial) DropKeys(id);
  if (by_value_.has_value()) by_value_->Forget(id);
  block.group = static_cast<uint32_t>(group) & 0xFFu;
  block.refs = 1;
  block.rows = 0;
}

void BlockPool::DropKeys(BlockId id) {
  Block& block = blocks_[id];
  NoteWatched(block);
  if (key_listener_ != nullptr) TellDropped(id);
  if (block.keyed) {
    index_.Erase(id);
    ++evicted_keys_;
  }
  if (block.partial) evicted_keys_ += partial_.DropAll(id);
  block.keyed = block.partial = 0;
  --num_idle_;
  --groups_[block.group].idle;
  ++evictions_;
}

void BlockPool::TellDropped(BlockId id) {
  const int group = GroupOf(id);
  if (HasKey(id)) key_listener_->OnDropped(group, KeyOf(id));
  for (BlockKey key : partial_.KeysOf(id)) key_listener_->OnDropped(group, key);
}

void BlockPool::Touch(BlockId id) {
  Block& block = blocks_[id];
  GroupSums& sums = groups_[block.group];
  if (block.refs == 0) {
    NoteWatched(block);
    if (by_value_.has_value()) {
      by_value_->Remove(id);
    } else {
      Unlink(id);
    }
    --num_free_;
    --num_idle_;  // only keyed blocks can be hit
    --sums.idle;
    ++sums.held;
    sums.held_rows += block.rows;
  } else {
    if (block.refs == 1) sums.shared_rows += block.rows;
    sums.saved_rows += block.rows;
  }
  ++block.refs;
}

void BlockPool::ReleaseReversed(std::span<const BlockId> table) {
  // The first block to be prepended becomes the front; later ones follow it.
  BlockId front = kNullBlock;
  for (size_t i = table.size(); i-- > 0;) {
    if (i >= kBatch) {
      __builtin_prefetch(&blocks_[table[i - kBatch]], 1);
    }
    const BlockId id = table[i];
    if (id == kNullBlock) continue;
    Block& block = blocks_[id];
    KVSIM_CHECK(block.refs > 0);
    GroupSums& sums = groups_[block.group];
    if (--block.refs > 0) {
      if (block.refs == 1) sums.shared_rows -= block.rows;
      sums.saved_rows -= block.rows;
      continue;
    }
    sums.held_rows -= block.rows;
    --sums.held;
    ++num_free_;
    const bool keyed = block.keyed || block.partial;
    if (keyed) {
      NoteWatched(block);
      ++num_idle_;
      ++sums.idle;
    }
    if (keyed && by_value_.has_value()) {
      by_value_->Push(id);
      continue;
    }
    const bool append =
        keyed || free_order_ == FreeOrder::kAppend ||
        (free_order_ == FreeOrder::kPrependWhenCaching && !prefix_caching_);
    if (append) {
      LinkBetween(id, blocks_[kNullBlock].prev, kNullBlock);
    } else {
      LinkBetween(id, front, blocks_[front].next);
      front = id;
    }
  }
}

void BlockPool::AddRowsToEach(std::span<const BlockId> ids, int64_t n,
                              int group) {
  GroupSums& sums = groups_[static_cast<size_t>(group)];
  const auto rows = static_cast<uint32_t>(n);
  int64_t blocks = 0, shared = 0, saved = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i + kBatch < ids.size()) {
      __builtin_prefetch(&blocks_[ids[i + kBatch]], 1);
    }
    if (ids[i] == kNullBlock) continue;
    Block& block = blocks_[ids[i]];
    KVSIM_CHECK(block.refs > 0);
    block.rows += rows;
    ++blocks;
    if (block.refs == 1) continue;
    ++shared;
    saved += block.refs - 1;
  }
  sums.held_rows += blocks * n;
  sums.shared_rows += shared * n;
  sums.saved_rows += saved * n;
}

void BlockPool::AssignKey(BlockId id, BlockKey key) {
  KVSIM_CHECK(prefix_caching_ && blocks_[id].refs > 0);
  NoteNewKey(key);
  index_.Insert(id, key);
  blocks_[id].keyed = 1;
  if (key_listener_ != nullptr) key_listener_->OnKeyed(GroupOf(id), key);
}

void BlockPool::AssignKeys(std::span<const BlockId> blocks,
                           std::span<const BlockKey> keys) {
  KVSIM_CHECK(blocks.size() == keys.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (i + kBatch < keys.size()) index_.Prefetch(keys[i + kBatch]);
    AssignKey(blocks[i], keys[i]);
  }
}

void BlockPool::AssignPartialKey(BlockId id, BlockKey key) {
  KVSIM_CHECK(prefix_caching_ && blocks_[id].refs > 0);
  NoteNewKey(key);
  const bool added = partial_.Add(key, id);
  blocks_[id].partial = 1;
  if (added && key_listener_ != nullptr) {
    key_listener_->OnKeyed(GroupOf(id), key);
  }
}

void BlockPool::MovePartialKeys(BlockId from, BlockId to) {
  KVSIM_CHECK(blocks_[from].refs > 0 && blocks_[to].refs > 0);
  if (!blocks_[from].partial) return;
  NoteWatched(blocks_[from]);
  partial_.MoveAll(from, to);
  blocks_[from].partial = 0;
  blocks_[to].partial = 1;
}

void BlockPool::Watch(std::span<const BlockId> hit,
                      std::span<const BlockKey> missed) {
  Unwatch();
  for (BlockId id : hit) {
    if (id == kNullBlock) continue;
    watched_.push_back(id);
    blocks_[id].watched = 1;
  }
  if (!missed.empty()) {
    // 16 bits a key, rounded up to a power of two: 1 in 16 is a false alarm.
    int bits = 10;
    while ((size_t{1} << bits) < missed.size() * 16) ++bits;
    missed_shift_ = 64 - bits;
    missed_.assign((size_t{1} << bits) / 64, 0);
    for (BlockKey key : missed) {
      const size_t slot = MissedSlot(key);
      missed_[slot / 64] |= uint64_t{1} << (slot % 64);
    }
  }
  watch_broken_ = false;
}

void BlockPool::Unwatch() {
  for (BlockId id : watched_) blocks_[id].watched = 0;
  watched_.clear();
  missed_.clear();
  watch_broken_ = true;
}

std::vector<BlockId> BlockPool::FreeQueue() const {
  std::vector<BlockId> queue;
  queue.reserve(static_cast<size_t>(num_free_));
  for (BlockId id = blocks_[kNullBlock].next; id != kNullBlock;
       id = blocks_[id].next) {
    queue.push_back(id);
  }
  if (by_value_.has_value()) {
    const std::vector<BlockId> idle = by_value_->InOrder();
    queue.insert(queue.end(), idle.begin(), idle.end());
  }
  return queue;
}

std::string BlockPool::CheckInvariants() const {
  const std::vector<BlockId> queue = FreeQueue();
  std::vector<bool> queued(blocks_.size(), false);
  std::vector<GroupSums> recount(groups_.size());
  int64_t idle = 0, keyed = 0;
  for (BlockId id : queue) {
    if (queued[id]) return "(1) a block is in the free queue twice";
    queued[id] = true;
    if (!index_.Contains(id) && !partial_.Contains(id)) continue;
    ++idle;
    ++recount[blocks_[id].group].idle;
  }
  for (BlockId id = 1; id < blocks_.size(); ++id) {
    const Block& block = blocks_[id];
    if (queued[id] != (block.refs == 0)) {
      return "(1) free queue and reference count disagree on block " +
             std::to_string(id);
    }
    if (index_.Contains(id) != static_cast<bool>(block.keyed) ||
        partial_.Contains(id) != static_cast<bool>(block.partial)) {
      return "(4) index and mark disagree on block " + std::to_string(id);
    }
    if (block.keyed) ++keyed;
    if (block.refs == 0) continue;
    GroupSums& sums = recount[block.group];
    ++sums.held;
    sums.held_rows += block.rows;
    if (block.refs > 1) sums.shared_rows += block.rows;
    sums.saved_rows += static_cast<int64_t>(block.refs - 1) * block.rows;
  }
  if (static_cast<int64_t>(queue.size()) != num_free_) return "(2) num_free";
  if (idle != num_idle_) return "(2) num_idle";
  if (recount != groups_) return "(3) sums of a group";
  if (keyed != index_.num_blocks() || index_.Contains(kNullBlock)) {
    return "(4) keyed blocks";
  }
  return partial_.CheckInvariants();
}

int64_t BlockPool::MemoryBytes() const {
  return static_cast<int64_t>(blocks_.size() * sizeof(Block)) +
         index_.MemoryBytes();
}

}  // namespace kvsim
