// How far apart the uses of a block are: exact LRU stack distances.
//
// Model:      a sequence of keys. The distance of a use is the number of
//             different keys used since the last use of the same key, that key
//             not counted: an LRU cache of more than d keys hits at distance d.
//             The first use of a key has none.
// Costs:      O(log n) a use, n the uses so far; 4 bytes per use and about 20
//             per key.
// Source:     Bennett and Kruskal (1975): a tree of marks at the last uses.
#ifndef KVSIM_TRACES_REUSE_DISTANCE_H_
#define KVSIM_TRACES_REUSE_DISTANCE_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace kvsim {

class ReuseDistance {
 public:
  using Key = std::pair<uint64_t, uint64_t>;

  // The distance of this use; nothing at the first one.
  std::optional<int64_t> Use(const Key& key);

 private:
  void Grow();
  void Add(size_t at, int32_t change);
  int64_t MarksUpTo(size_t at) const;

  size_t uses_ = 0;
  std::vector<int32_t> tree_ = std::vector<int32_t>(2);  // Fenwick, from 1
  absl::flat_hash_map<Key, size_t> last_use_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_REUSE_DISTANCE_H_
