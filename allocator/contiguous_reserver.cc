#include "allocator/contiguous_reserver.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace kvsim {

ContiguousReserver::ContiguousReserver(int64_t capacity)
    : capacity_(capacity), free_(capacity), holes_({{0, capacity}}) {
  KVSIM_CHECK(capacity > 0) << capacity;
}

std::optional<int64_t> ContiguousReserver::Reserve(int64_t length) {
  KVSIM_CHECK(length > 0) << length;
  const auto hole =
      std::find_if(holes_.begin(), holes_.end(),
                   [&](const auto& range) { return range.second >= length; });
  if (hole == holes_.end()) return std::nullopt;
  const auto [begin, hole_length] = *hole;
  holes_.erase(hole);
  if (hole_length > length)
    holes_.emplace(begin + length, hole_length - length);
  reserved_.emplace(begin, length);
  free_ -= length;
  return begin;
}

void ContiguousReserver::Release(int64_t begin) {
  const auto range = reserved_.find(begin);
  KVSIM_CHECK(range != reserved_.end()) << "slot " << begin;
  int64_t length = range->second;
  reserved_.erase(range);
  free_ += length;
  auto after = holes_.lower_bound(begin);
  if (after != holes_.end() && after->first == begin + length) {
    length += after->second;
    after = holes_.erase(after);
  }
  if (after != holes_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == begin) {
      before->second += length;
      return;
    }
  }
  holes_.emplace_hint(after, begin, length);
}

int64_t ContiguousReserver::LargestHole() const {
  int64_t largest = 0;
  for (const auto& [begin, length] : holes_) {
    largest = std::max(largest, length);
  }
  return largest;
}

void ContiguousReserver::CheckInvariants() const {
  Ranges all = reserved_;
  all.insert(holes_.begin(), holes_.end());
  KVSIM_CHECK_EQ(all.size(), holes_.size() + reserved_.size());
  int64_t end = 0;
  int64_t free = 0;
  bool behind_hole = false;
  for (const auto& [begin, length] : all) {
    KVSIM_CHECK_EQ(begin, end);
    const bool hole = holes_.count(begin) > 0;
    KVSIM_CHECK(!(hole && behind_hole)) << "two holes meet at " << begin;
    behind_hole = hole;
    if (hole) free += length;
    end = begin + length;
  }
  KVSIM_CHECK_EQ(end, capacity_);
  KVSIM_CHECK_EQ(free, free_);
}

}  // namespace kvsim
