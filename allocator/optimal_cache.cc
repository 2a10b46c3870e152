#include "allocator/optimal_cache.h"

#include "absl/container/flat_hash_map.h"
#include "base/check.h"

namespace kvsim {

OptimalCache::OptimalCache(int64_t capacity, const KeyRows& future)
    : capacity_(capacity) {
  KVSIM_CHECK(capacity > 0) << capacity;
  KVSIM_CHECK(future.size() < kNever) << future.size();
  key_of_.reserve(future.keys.size());
  absl::flat_hash_map<uint64_t, uint32_t> numbers;
  for (const uint64_t key : future.keys) {
    const auto fresh = static_cast<uint32_t>(numbers.size());
    key_of_.push_back(numbers.emplace(key, fresh).first->second);
  }
  keys_.resize(numbers.size());
  // From the last row to the first: the row seen last is the next use.
  std::vector<int32_t> next(keys_.size(), kNever);
  next_use_.resize(key_of_.size());
  size_t reference = key_of_.size();
  for (int64_t row = future.size(); row-- > 0;) {
    for (size_t n = future[row].size(); n > 0; --n) {
      --reference;
      int32_t& use = next[key_of_[reference]];
      next_use_[reference] = use;
      use = static_cast<int32_t>(row);
    }
  }
}

int64_t OptimalCache::Access(std::span<const uint64_t> row) {
  KVSIM_CHECK_LE(position_ + row.size(), key_of_.size());
  size_t hits = 0;
  while (hits < row.size() && keys_[key_of_[position_ + hits]].cached) ++hits;
  for (size_t depth = 0; depth < row.size(); ++depth, ++position_) {
    Admit({next_use_[position_], static_cast<int32_t>(depth),
           key_of_[position_]});
  }
  return static_cast<int64_t>(hits);
}

void OptimalCache::Admit(const Candidate& candidate) {
  KeyState& state = keys_[candidate.key];
  state.next_use = candidate.next_use;
  if (!state.cached) {
    if (size_ == capacity_) {
      DropStale();
      const Candidate victim = queue_.top();
      if (candidate.next_use >= victim.next_use) return;
      queue_.pop();
      keys_[victim.key].cached = false;
      ++evictions_;
      --size_;
    }
    state.cached = true;
    ++size_;
  }
  queue_.push(candidate);
}

// A key's entry counts only while it names the key's current next use.
void OptimalCache::DropStale() {
  while (!keys_[queue_.top().key].cached ||
         keys_[queue_.top().key].next_use != queue_.top().next_use) {
    queue_.pop();
  }
}

}  // namespace kvsim
