#include "allocator/prefix_index.h"

#include "base/check.h"

namespace kvsim {

PrefixIndex::PrefixIndex(int64_t num_blocks)
    : first_(num_blocks),
      ring_(static_cast<size_t>(num_blocks), Neighbours{kAbsent, kAbsent}) {}

void PrefixIndex::Insert(BlockId id, BlockKey key) {
  KVSIM_CHECK(id != kNullBlock && !Contains(id));
  const uint32_t first = first_.FindOrInsert(key, id);
  if (first == KeyIndex::kNone) {
    ring_[id] = {id, id};
  } else {  // behind the last of the ring, which is before the first
    first_.NoteKey(id, key);
    const BlockId last = ring_[first].prev;
    ring_[id] = {last, first};
    ring_[last].next = id;
    ring_[first].prev = id;
  }
  ++num_blocks_;
}

void PrefixIndex::Erase(BlockId id) {
  Neighbours& ring = ring_[id];
  KVSIM_CHECK(ring.next != kAbsent);
  if (ring.next == id) {
    first_.Erase(id);
  } else {
    if (first_.Find(first_.KeyOf(id)) == id) first_.Replace(id, ring.next);
    ring_[ring.prev].next = ring.next;
    ring_[ring.next].prev = ring.prev;
  }
  ring = {kAbsent, kAbsent};
  --num_blocks_;
}

int64_t PrefixIndex::MemoryBytes() const {
  return first_.MemoryBytes() +
         static_cast<int64_t>(ring_.size() * sizeof(Neighbours));
}

}  // namespace kvsim
