// Random rows of prefix-chained keys, for tests of what remembers keys.
#ifndef KVSIM_ALLOCATOR_TREE_ROWS_H_
#define KVSIM_ALLOCATOR_TREE_ROWS_H_

#include <cstdint>
#include <vector>

#include "allocator/key_rows.h"
#include "base/random.h"

namespace kvsim {

// Prompts over a tree with `branches` children per node: a key is the number
// of its path, so keys are prefix-chained and stand at one depth.
inline KeyRows TreeRows(RandomStream& random, int64_t rows, uint64_t branches,
                        uint64_t depth_max) {
  KeyRows result;
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<uint64_t> row(1 + random.Below(depth_max));
    uint64_t path = 1;
    for (uint64_t& key : row) {
      path = path * (branches + 1) + 1 + random.Below(branches);
      key = path;
    }
    result.Append(row);
  }
  return result;
}

}  // namespace kvsim

#endif  // KVSIM_ALLOCATOR_TREE_ROWS_H_
