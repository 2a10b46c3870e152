#include "allocator/lru_stack.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace kvsim {

LruStack::LruStack(int64_t max_rows, int64_t max_references)
    : partings_(max_rows) {
  KVSIM_CHECK(max_references > 0 && max_references < (int64_t{1} << 31))
      << max_references;
  const size_t groups = static_cast<size_t>(max_references) / kGroupBits + 1;
  used_.assign(groups * (kGroupBits / kWordBits), 0);
  sums_.assign(groups + 1, 0);
  // Address space only: pages come into being as keys do.
  keys_.reserve(static_cast<size_t>(max_references));
  last_use_.reserve(static_cast<size_t>(max_references));
}

void LruStack::Access(std::span<const uint64_t> row, std::vector<Run>* runs) {
  KVSIM_CHECK(now_ + row.size() <= used_.size() * kWordBits);
  runs->clear();
  row_.clear();
  for (Entry at = kNone; row_.size() < row.size();) {
    at = Find(at, row[row_.size()]);
    if (at == kNone) break;
    row_.push_back(at);
  }
  for (size_t i = 0; i < row_.size();) {
    const size_t head = last_use_[row_[i]];
    size_t n = 1;
    while (i + n < row_.size() && last_use_[row_[i + n]] == head - n) ++n;
    runs->push_back({.begin = static_cast<int64_t>(i),
                     .count = static_cast<int64_t>(n),
                     .position = UsedSince(head)});
    SetBits(head + 1 - n, head + 1, false);
    // What the loop has taken out still stood above the runs that follow.
    runs->back().position += static_cast<int64_t>(i);
    i += n;
  }
  const size_t seen = row_.size();
  Number(row.subspan(seen));
  // Tail first: the head is the most recent.
  for (size_t i = 0; i < row_.size(); ++i) {
    last_use_[row_[i]] = static_cast<uint32_t>(now_ + row.size() - 1 - i);
  }
  SetBits(now_, now_ + row.size(), true);
  now_ += row.size();
}

// The entry of a key that follows the entry `before` in a row (kNone: heads it).
LruStack::Entry LruStack::Find(Entry before, uint64_t key) const {
  const Entry next = before + 1;  // kNone + 1 = 0, which headed a row
  if (next < keys_.size() && keys_[next] == key) return next;
  const uint32_t parting = partings_.Find(key);
  return parting == KeyIndex::kNone ? kNone : parting_entry_[parting];
}

void LruStack::Number(std::span<const uint64_t> unseen) {
  if (unseen.empty()) return;
  const auto first = static_cast<Entry>(keys_.size());
  partings_.Insert(unseen[0], static_cast<uint32_t>(parting_entry_.size()));
  parting_entry_.push_back(first);
  keys_.insert(keys_.end(), unseen.begin(), unseen.end());
  last_use_.resize(keys_.size());
  for (Entry e = first; e < keys_.size(); ++e) row_.push_back(e);
}

int64_t LruStack::UsedSince(size_t time) const {
  const size_t group = time / kGroupBits;
  int64_t n = std::popcount(used_[time / kWordBits] >> (time % kWordBits));
  const size_t next_group = (group + 1) * (kGroupBits / kWordBits);
  for (size_t w = time / kWordBits + 1; w < next_group; ++w) {
    n += std::popcount(used_[w]);
  }
  // sums_ counts from the back, so that a prefix of it is everything later.
  for (size_t i = sums_.size() - 1 - (group + 1); i > 0; i &= i - 1) {
    n += sums_[i];
  }
  return n;
}

void LruStack::SetBits(size_t begin, size_t end, bool used) {
  const int64_t sign = used ? 1 : -1;
  while (begin < end) {
    const size_t group = begin / kGroupBits;
    const size_t stop = std::min(end, (group + 1) * kGroupBits);
    AddToGroup(group, sign * static_cast<int64_t>(stop - begin));
    while (begin < stop) {
      const size_t word = begin / kWordBits;
      const size_t word_end = std::min(stop, (word + 1) * kWordBits);
      const size_t n = word_end - begin;
      const uint64_t ones =
          n == kWordBits ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
      const uint64_t mask = ones << (begin % kWordBits);
      used_[word] = used ? used_[word] | mask : used_[word] & ~mask;
      begin = word_end;
    }
  }
}

void LruStack::AddToGroup(size_t group, int64_t n) {
  for (size_t i = sums_.size() - 1 - group; i < sums_.size(); i += i & -i) {
    sums_[i] += n;
  }
}

}  // namespace kvsim
