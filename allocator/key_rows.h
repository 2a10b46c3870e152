// The keys of many rows, flat in memory.
//
// Model:      row r holds keys[ends[r-1] .. ends[r]), head to tail.
// Memory:     8 B per key and per row.
#ifndef KVSIM_ALLOCATOR_KEY_ROWS_H_
#define KVSIM_ALLOCATOR_KEY_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kvsim {

struct KeyRows {
  std::vector<uint64_t> keys;
  std::vector<int64_t> ends;

  int64_t size() const { return static_cast<int64_t>(ends.size()); }
  std::span<const uint64_t> operator[](int64_t row) const {
    const auto r = static_cast<size_t>(row);
    const auto begin = static_cast<size_t>(r == 0 ? 0 : ends[r - 1]);
    const auto end = static_cast<size_t>(ends[r]);
    return std::span<const uint64_t>(keys).subspan(begin, end - begin);
  }
  void Append(std::span<const uint64_t> row) {
    keys.insert(keys.end(), row.begin(), row.end());
    ends.push_back(static_cast<int64_t>(keys.size()));
  }
};

}  // namespace kvsim

#endif  // KVSIM_ALLOCATOR_KEY_ROWS_H_
