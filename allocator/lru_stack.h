// LRU caches of every capacity at once: where each block of a row stands in the
// order of last use.
//
// Model:      an LRU cache of N entries holds the N most recently used keys, for
//             every N. So the order of last use, most recent first, says for each
//             key from which capacity on it is cached: its position, counted
//             from 1. A row is looked up, then passes tail first (as in
//             allocator/lru_cache.h), so that its head ends up most recent.
//             A key names its whole prefix (base/key_chain.h), therefore
//             * behind the first key of a row that was never seen, none was;
//             * a block is never used later than the blocks before it: along a
//               row, positions only grow.
//             Blocks that were used one after the other stand one after the
//             other, so a row is answered in runs, not block by block.
// Method:     every use has a point in time; a bit says whether its key was used
//             again since; a Fenwick tree over groups of 512 bits counts the keys
//             used after a point. Keys are numbered as they appear: the next
//             block of a row nearly always has the next number, and only keys
//             where rows part need a table.
// Memory:     13 B per reference, 40 B per row.
// Costs:      O(blocks/64 + runs·log(references)) per row besides reading and
//             numbering its keys; one to two cache lines per 8 blocks.
// Errors:     more rows or references than announced are check failures.
// Source:     Mattson et al., "Evaluation techniques for storage hierarchies",
//             IBM Systems Journal 9(2), 1970: the inclusion property.
#ifndef KVSIM_ALLOCATOR_LRU_STACK_H_
#define KVSIM_ALLOCATOR_LRU_STACK_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "allocator/key_index.h"

namespace kvsim {

class LruStack {
 public:
  // Blocks row[begin, begin + count) stand at position, position + 1, ...
  struct Run {
    int64_t begin;
    int64_t count;
    int64_t position;  // of the first, from 1

    friend bool operator==(const Run&, const Run&) = default;
  };

  // REQUIRES: max_rows > 0, 0 < max_references < 2^31.
  LruStack(int64_t max_rows, int64_t max_references);

  // Looks the row up, then lets it pass. `runs` covers the leading keys that
  // were seen before; the rest of the row is new. REQUIRES: the keys of the row
  // differ from one another.
  void Access(std::span<const uint64_t> row, std::vector<Run>* runs);

  int64_t num_keys() const { return static_cast<int64_t>(keys_.size()); }

 private:
  using Entry = uint32_t;
  static constexpr Entry kNone = 0xFFFFFFFFu;
  static constexpr size_t kWordBits = 64, kGroupBits = 512;

  Entry Find(Entry before, uint64_t key) const;
  void Number(std::span<const uint64_t> unseen);
  // Keys whose last use was at this time or later.
  int64_t UsedSince(size_t time) const;
  void SetBits(size_t begin, size_t end, bool used);
  void AddToGroup(size_t group, int64_t n);

  std::vector<uint64_t> keys_;      // by entry, in order of appearance
  std::vector<uint32_t> last_use_;  // by entry
  KeyIndex partings_;               // keys that began the new part of a row
  std::vector<Entry> parting_entry_;
  std::vector<Entry> row_;  // scratch: the leading entries of a row

  std::vector<uint64_t> used_;  // a bit per point in time
  std::vector<int64_t> sums_;   // Fenwick tree over groups of used_
  size_t now_ = 0;
};

}  // namespace kvsim

#endif  // KVSIM_ALLOCATOR_LRU_STACK_H_
