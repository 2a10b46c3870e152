#include "traces/reuse_distance.h"

namespace kvsim {

std::optional<int64_t> ReuseDistance::Use(const Key& key) {
  const size_t now = ++uses_;
  if (now >= tree_.size()) Grow();
  std::optional<int64_t> distance;
  const auto [it, is_new] = last_use_.try_emplace(key, now);
  if (!is_new) {
    const auto marks = static_cast<int64_t>(last_use_.size());
    distance = marks - MarksUpTo(it->second);
    Add(it->second, -1);
    it->second = now;
  }
  Add(now, 1);
  return distance;
}

// Doubles the tree. Its size is a power of two and one, so that the only new
// node that covers old places is the last one, and it covers all of them.
void ReuseDistance::Grow() {
  const size_t old_top = tree_.size() - 1;
  tree_.resize(2 * old_top + 1);
  tree_[2 * old_top] = tree_[old_top];
}

void ReuseDistance::Add(size_t at, int32_t change) {
  for (; at < tree_.size(); at += at & -at) tree_[at] += change;
}

int64_t ReuseDistance::MarksUpTo(size_t at) const {
  int64_t marks = 0;
  for (; at > 0; at -= at & -at) marks += tree_[at];
  return marks;
}

}  // namespace kvsim
