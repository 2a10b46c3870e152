// The hit caches as their rules read, for tests: lists and searches.
#ifndef KVSIM_ALLOCATOR_NAIVE_HIT_CACHES_H_
#define KVSIM_ALLOCATOR_NAIVE_HIT_CACHES_H_

#include <algorithm>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "allocator/hit_cache.h"
#include "allocator/key_rows.h"

namespace kvsim {

// Shared by the twins: a plain list of the cached keys.
class NaiveHitCache : public HitCache {
 public:
  explicit NaiveHitCache(int64_t capacity) : capacity_(capacity) {}

  int64_t capacity() const override { return capacity_; }
  int64_t size() const override { return static_cast<int64_t>(keys_.size()); }
  int64_t evictions() const override { return evictions_; }

 protected:
  bool Cached(uint64_t key) const {
    return std::find(keys_.begin(), keys_.end(), key) != keys_.end();
  }
  int64_t Prefix(std::span<const uint64_t> row) const {
    int64_t hits = 0;
    for (const uint64_t key : row) {
      if (!Cached(key)) break;
      ++hits;
    }
    return hits;
  }
  void PushBack(uint64_t key) {
    if (size() == capacity_) {
      keys_.pop_front();
      ++evictions_;
    }
    keys_.push_back(key);
  }

  int64_t capacity_;
  int64_t evictions_ = 0;
  std::list<uint64_t> keys_;  // front goes first
};

class NaiveLruCache final : public NaiveHitCache {
 public:
  using NaiveHitCache::NaiveHitCache;
  int64_t Access(std::span<const uint64_t> row) override {
    const int64_t hits = Prefix(row);
    for (size_t i = row.size(); i-- > 0;) {
      if (Cached(row[i])) keys_.remove(row[i]);
      PushBack(row[i]);
    }
    return hits;
  }
};

class NaiveFifoCache final : public NaiveHitCache {
 public:
  using NaiveHitCache::NaiveHitCache;
  int64_t Access(std::span<const uint64_t> row) override {
    const int64_t hits = Prefix(row);
    for (const uint64_t key : row.subspan(static_cast<size_t>(hits))) {
      if (!Cached(key)) PushBack(key);
    }
    return hits;
  }
};

class NaiveOptimalCache final : public NaiveHitCache {
 public:
  NaiveOptimalCache(int64_t capacity, const KeyRows& future)
      : NaiveHitCache(capacity), future_(future) {}

  int64_t Access(std::span<const uint64_t> row) override {
    const int64_t hits = Prefix(row);
    for (size_t i = 0; i < row.size(); ++i) {
      if (!Cached(row[i])) Admit(row[i], static_cast<int64_t>(i), row);
    }
    ++row_;
    return hits;
  }

 private:
  // The next row that contains `key`. A cached key that stands later in this
  // row is used before any other row.
  int64_t NextUse(uint64_t key, int64_t depth,
                  std::span<const uint64_t> row) const {
    const auto rest = row.subspan(static_cast<size_t>(depth) + 1);
    if (std::find(rest.begin(), rest.end(), key) != rest.end()) return row_;
    for (int64_t r = row_ + 1; r < future_.size(); ++r) {
      if (Depth(key, r) >= 0) return r;
    }
    return future_.size();
  }
  int64_t Depth(uint64_t key, int64_t r) const {
    const auto row = future_[r];
    const auto it = std::find(row.begin(), row.end(), key);
    return it == row.end() ? -1 : it - row.begin();
  }
  int64_t DepthOf(uint64_t key) const {
    for (int64_t r = 0; r < future_.size(); ++r) {
      if (Depth(key, r) >= 0) return Depth(key, r);
    }
    return -1;
  }
  void Admit(uint64_t key, int64_t depth, std::span<const uint64_t> row) {
    if (size() == capacity_) {
      const auto goes_later = [&](uint64_t a, uint64_t b) {
        const int64_t use_a = NextUse(a, depth, row);
        const int64_t use_b = NextUse(b, depth, row);
        return use_a != use_b ? use_a < use_b : DepthOf(a) < DepthOf(b);
      };
      const auto victim =
          std::max_element(keys_.begin(), keys_.end(), goes_later);
      if (NextUse(key, depth, row) >= NextUse(*victim, depth, row)) return;
      keys_.erase(victim);
      ++evictions_;
    }
    keys_.push_back(key);
  }

  const KeyRows& future_;
  int64_t row_ = 0;
};

}  // namespace kvsim

#endif  // KVSIM_ALLOCATOR_NAIVE_HIT_CACHES_H_
