#include "allocator/fifo_cache.h"

namespace kvsim {

int64_t FifoCache::Access(std::span<const uint64_t> row) {
  size_t hits = 0;
  while (hits < row.size() && index_.Find(row[hits]) != KeyIndex::kNone) {
    ++hits;
  }
  for (const uint64_t key : row.subspan(hits)) {
    if (index_.Find(key) == KeyIndex::kNone) Insert(key);
  }
  return static_cast<int64_t>(hits);
}

void FifoCache::Insert(uint64_t key) {
  if (index_.size() == capacity()) {
    index_.Erase(next_);
    ++evictions_;
  }
  index_.Insert(key, next_);
  next_ = static_cast<int64_t>(next_) + 1 == capacity() ? 0 : next_ + 1;
}

}  // namespace kvsim
