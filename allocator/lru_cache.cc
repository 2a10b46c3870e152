#include "allocator/lru_cache.h"

#include <algorithm>

#include "base/check.h"

namespace kvsim {
namespace {

// Keys whose memory is requested together: enough to cover the latency of main
// memory, few enough to stay in the first-level cache until they are used.
constexpr size_t kGroup = 16;

}  // namespace

LruCache::LruCache(int64_t capacity)
    : index_(capacity), links_(static_cast<size_t>(capacity)) {}

int64_t LruCache::Access(std::span<const uint64_t> row) {
  const int64_t hits = CountPrefix(row);
  Touch(row);
  return hits;
}

int64_t LruCache::CountPrefix(std::span<const uint64_t> row) const {
  for (size_t i = 0; i < row.size(); ++i) {
    if (i % kGroup == 0) {
      const size_t end = std::min(row.size(), i + kGroup);
      for (size_t k = i; k < end; ++k) index_.Prefetch(row[k]);
    }
    if (index_.Find(row[i]) == kNone) return static_cast<int64_t>(i);
  }
  return static_cast<int64_t>(row.size());
}

void LruCache::Touch(std::span<const uint64_t> row) {
  for (size_t end = row.size(); end > 0;) {
    const size_t begin = end - std::min(end, kGroup);
    PrefetchGroup(row.subspan(begin, end - begin));
    while (end > begin) MakeNewest(row[--end]);
  }
}

void LruCache::PrefetchGroup(std::span<const uint64_t> group) const {
  for (const uint64_t key : group) index_.Prefetch(key);
  if (index_.size() + static_cast<int64_t>(group.size()) <= capacity()) return;
  uint32_t victim = oldest_;
  for (size_t i = 0; i < group.size() && victim != kNone; ++i) {
    index_.PrefetchEntry(victim);
    victim = links_[victim].newer;
  }
}

void LruCache::MakeNewest(uint64_t key) {
  uint32_t entry = index_.Find(key);
  if (entry != kNone) {
    Unlink(entry);
  } else {
    entry = TakeEntry();
    index_.Insert(key, entry);
  }
  Append(entry);
}

// An entry without a key that is not in the list.
uint32_t LruCache::TakeEntry() {
  if (index_.size() < capacity()) return static_cast<uint32_t>(index_.size());
  const uint32_t victim = oldest_;
  index_.Erase(victim);
  Unlink(victim);
  ++evictions_;
  return victim;
}

void LruCache::Unlink(uint32_t entry) {
  const Links links = links_[entry];
  (links.older == kNone ? oldest_ : links_[links.older].newer) = links.newer;
  (links.newer == kNone ? newest_ : links_[links.newer].older) = links.older;
}

void LruCache::Append(uint32_t entry) {
  links_[entry] = {newest_, kNone};
  (newest_ == kNone ? oldest_ : links_[newest_].newer) = entry;
  newest_ = entry;
}

int64_t LruCache::MemoryBytes() const {
  return index_.MemoryBytes() +
         static_cast<int64_t>(links_.size() * sizeof(Links));
}

void LruCache::CheckInvariants() const {
  index_.CheckInvariants();
  int64_t listed = 0;
  uint32_t older = kNone;
  for (uint32_t e = oldest_; e != kNone; e = links_[e].newer) {
    KVSIM_CHECK_EQ(links_[e].older, older);
    KVSIM_CHECK_EQ(index_.Find(index_.KeyOf(e)), e);
    KVSIM_CHECK_LE(++listed, size()) << "the list has a cycle";
    older = e;
  }
  KVSIM_CHECK_EQ(older, newest_);
  KVSIM_CHECK_EQ(listed, size());
}

}  // namespace kvsim
