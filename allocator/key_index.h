// Finds the entry of a 64-bit key in a table of fixed capacity.
//
// Model:      entries are the numbers 0 .. capacity-1, owned by the caller;
//             each carries at most one key and a key belongs to at most one
//             entry. Open addressing with linear probing over 8-byte slots
//             {32 bits of the mixed key, entry}. Erase shifts the probe run
//             back, so there are no tombstones and a full table never slows.
// Invariants: (1) every key of a used entry is found from its home slot
//                 without crossing an empty slot;
//             (2) used slots = size().
// Memory:     8 B per entry for keys and 24 B per entry for slots.
// Costs:      Find, Insert, Erase: one probe run, about one cache line each;
//             Prefetch hides it when the caller knows its next keys.
// Errors:     misuse is undefined in Find; Insert and Erase check capacity.
#ifndef KVSIM_ALLOCATOR_KEY_INDEX_H_
#define KVSIM_ALLOCATOR_KEY_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kvsim {

class KeyIndex {
 public:
  static constexpr uint32_t kNone = 0xFFFFFFFFu;

  // REQUIRES: 0 < capacity < 2^31.
  explicit KeyIndex(int64_t capacity);

  // The entry that carries `key`, or kNone.
  uint32_t Find(uint64_t key) const {
    const uint32_t tag = Tag(key);
    for (size_t s = Home(tag);; s = Next(s)) {
      const Slot slot = slots_[s];
      if (slot.entry == kNone) return kNone;
      if (slot.tag == tag && keys_[slot.entry] == key) return slot.entry;
    }
  }

  // Gives `entry` the key. REQUIRES: Find(key) == kNone; the entry has none.
  void Insert(uint64_t key, uint32_t entry) {
    const uint32_t tag = Tag(key);
    size_t s = Home(tag);
    while (slots_[s].entry != kNone) s = Next(s);
    slots_[s] = {tag, entry};
    keys_[entry] = key;
    ++size_;
  }

  // The entry that carries `key`; or kNone, and `entry` carries it now.
  // REQUIRES: the entry carries none.
  uint32_t FindOrInsert(uint64_t key, uint32_t entry) {
    const uint32_t tag = Tag(key);
    size_t s = Home(tag);
    for (; slots_[s].entry != kNone; s = Next(s)) {
      const Slot slot = slots_[s];
      if (slot.tag == tag && keys_[slot.entry] == key) return slot.entry;
    }
    slots_[s] = {tag, entry};
    keys_[entry] = key;
    ++size_;
    return kNone;
  }

  // An entry may stand in line behind the one that carries its key: NoteKey
  // writes the key down without giving it, Replace hands it over later.
  void NoteKey(uint32_t entry, uint64_t key) { keys_[entry] = key; }
  // REQUIRES: `entry` carries a key; the same is noted for `successor`.
  void Replace(uint32_t entry, uint32_t successor);

  // Takes the key of `entry` away. REQUIRES: the entry carries one.
  void Erase(uint32_t entry);

  // REQUIRES: the entry carries a key or has one noted.
  uint64_t KeyOf(uint32_t entry) const { return keys_[entry]; }
  int64_t size() const { return size_; }
  int64_t capacity() const { return static_cast<int64_t>(keys_.size()); }
  int64_t MemoryBytes() const;

  // Brings the home slot of `key` into the cache.
  void Prefetch(uint64_t key) const {
    __builtin_prefetch(&slots_[Home(Tag(key))]);
  }
  // Brings the key of `entry` into the cache, which KeyOf reads.
  void PrefetchKeyOf(uint32_t entry) const {
    __builtin_prefetch(&keys_[entry]);
  }
  // Brings the home slot of the key that `entry` carries into the cache.
  void PrefetchEntry(uint32_t entry) const { Prefetch(keys_[entry]); }

  // Checks the numbered invariants; O(capacity).
  void CheckInvariants() const;

 private:
  struct Slot {
    uint32_t tag;
    uint32_t entry;  // kNone: empty
  };

  // Any 64-bit keys are welcome, so they are mixed first (the finaliser of
  // MurmurHash3 without its last two steps: the upper half is mixed well).
  static uint32_t Tag(uint64_t key) {
    key ^= key >> 33;
    key *= 0xFF51AFD7ED558CCDu;
    key ^= key >> 33;
    key *= 0xC4CEB9FE1A85EC53u;
    return static_cast<uint32_t>(key >> 32);
  }
  size_t Home(uint32_t tag) const { return (tag * slots_.size()) >> 32; }
  size_t Next(size_t s) const { return s + 1 == slots_.size() ? 0 : s + 1; }
  size_t SlotOf(uint32_t entry) const;
  // Steps from a tag's home to slot s.
  size_t Distance(uint32_t tag, size_t s) const {
    const size_t home = Home(tag);
    return s >= home ? s - home : s + slots_.size() - home;
  }

  std::vector<Slot> slots_;
  std::vector<uint64_t> keys_;  // by entry
  int64_t size_ = 0;
};

}  // namespace kvsim

#endif  // KVSIM_ALLOCATOR_KEY_INDEX_H_
