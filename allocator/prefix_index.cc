#include "allocator/prefix_index.h"

#include "base/check.h"

namespace kvsim {

PrefixIndex::PrefixIndex(int64_t num_blocks) {
  KVSIM_CHECK(num_blocks > 0 && num_blocks < kAbsent);
  slots_.assign(static_cast<size_t>(num_blocks) * 2, Slot{0, kNullBlock});
  nodes_.assign(static_cast<size_t>(num_blocks), Node{0, kAbsent, kAbsent});
}

// The slot that holds `key`, or the empty slot where it belongs.
size_t PrefixIndex::FindSlot(BlockKey key) const {
  const uint32_t tag = TagOf(key);
  size_t s = Home(tag);
  while (slots_[s].id != kNullBlock &&
         !(slots_[s].tag == tag && nodes_[slots_[s].id].key == key)) {
    s = Next(s);
  }
  return s;
}

void PrefixIndex::Insert(BlockId id, BlockKey key) {
  KVSIM_CHECK(id != kNullBlock && !Contains(id));
  Slot& slot = slots_[FindSlot(key)];
  Node& node = nodes_[id];
  node.key = key;
  if (slot.id == kNullBlock) {
    slot = {TagOf(key), id};
    node.prev = node.next = id;
    ++num_keys_;
  } else {  // behind the last of the ring, which is before the first
    Node& first = nodes_[slot.id];
    node.prev = first.prev;
    node.next = slot.id;
    nodes_[first.prev].next = id;
    first.prev = id;
  }
  ++num_blocks_;
}

void PrefixIndex::Erase(BlockId id) {
  Node& node = nodes_[id];
  KVSIM_CHECK(node.next != kAbsent);
  const size_t s = FindSlot(node.key);
  if (node.next == id) {
    EraseSlot(s);
    --num_keys_;
  } else {
    if (slots_[s].id == id) slots_[s].id = node.next;
    nodes_[node.prev].next = node.next;
    nodes_[node.next].prev = node.prev;
  }
  node.prev = node.next = kAbsent;
  --num_blocks_;
}

// Fills the hole with the next entry of the run that may move there, and so on.
void PrefixIndex::EraseSlot(size_t hole) {
  const size_t n = slots_.size();
  for (size_t s = Next(hole); slots_[s].id != kNullBlock; s = Next(s)) {
    const size_t home = Home(slots_[s].tag);
    // Distance from its home to here, against the distance from the hole.
    const size_t from_home = s >= home ? s - home : s + n - home;
    const size_t from_hole = s >= hole ? s - hole : s + n - hole;
    if (from_home >= from_hole) {
      slots_[hole] = slots_[s];
      hole = s;
    }
  }
  slots_[hole] = {0, kNullBlock};
}

int64_t PrefixIndex::MemoryBytes() const {
  return static_cast<int64_t>(slots_.size() * sizeof(Slot) +
                              nodes_.size() * sizeof(Node));
}

}  // namespace kvsim
