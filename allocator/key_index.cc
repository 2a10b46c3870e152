#include "allocator/key_index.h"

#include "base/check.h"

namespace kvsim {

KeyIndex::KeyIndex(int64_t capacity) {
  KVSIM_CHECK(capacity > 0 && capacity < (int64_t{1} << 31)) << capacity;
  const auto entries = static_cast<size_t>(capacity);
  // A third full at most: an absent key costs 1.6 probes on average.
  slots_.assign(3 * entries, Slot{0, kNone});
  keys_.assign(entries, 0);
}

size_t KeyIndex::SlotOf(uint32_t entry) const {
  size_t s = Home(Tag(keys_[entry]));
  while (slots_[s].entry != entry) {
    KVSIM_CHECK(slots_[s].entry != kNone) << "entry " << entry;
    s = Next(s);
  }
  return s;
}

void KeyIndex::Replace(uint32_t entry, uint32_t successor) {
  KVSIM_CHECK_EQ(keys_[entry], keys_[successor]);
  slots_[SlotOf(entry)].entry = successor;
}

void KeyIndex::Erase(uint32_t entry) {
  KVSIM_CHECK(size_ > 0);
  size_t hole = SlotOf(entry);
  --size_;
  // Whatever lies behind the hole in the same run and may move back, does.
  size_t distance = 0;
  for (size_t s = Next(hole); slots_[s].entry != kNone; s = Next(s)) {
    ++distance;
    if (Distance(slots_[s].tag, s) >= distance) {
      slots_[hole] = slots_[s];
      hole = s;
      distance = 0;
    }
  }
  slots_[hole].entry = kNone;
}

int64_t KeyIndex::MemoryBytes() const {
  return static_cast<int64_t>(slots_.size() * sizeof(Slot) +
                              keys_.size() * sizeof(uint64_t));
}

void KeyIndex::CheckInvariants() const {
  int64_t used = 0;
  for (const Slot& slot : slots_) {
    if (slot.entry == kNone) continue;
    ++used;
    KVSIM_CHECK_EQ(Find(keys_[slot.entry]), slot.entry);
  }
  KVSIM_CHECK_EQ(used, size_);
}

}  // namespace kvsim
