#include "sim/prefix_watch.h"

#include <algorithm>

#include "base/check.h"

namespace kvsim {

PrefixWatch::PrefixWatch(std::span<const uint64_t> keys, int64_t key_tokens,
                         int num_groups)
    : key_tokens_(key_tokens) {
  KVSIM_CHECK(key_tokens > 0 && num_groups > 0);
  for (size_t i = 0; i < keys.size(); ++i) index_.emplace(keys[i], i);
  groups_.assign(static_cast<size_t>(num_groups),
                 std::vector<KeyHistory>(keys.size()));
}

void PrefixWatch::SetMoment(int64_t step, int64_t time_ns) {
  step_ = step;
  time_ns_ = time_ns;
}

KeyHistory* PrefixWatch::Find(int group, uint64_t key) {
  const auto at = index_.find(key);
  if (at == index_.end()) return nullptr;
  return &groups_[static_cast<size_t>(group)][at->second];
}

void PrefixWatch::NoteKeyed(RequestId by, int group, uint64_t key) {
  KeyHistory* history = Find(group, key);
  if (history == nullptr) return;
  const KeyEvent event{step_, time_ns_, by};
  if (!history->ever()) history->first_keyed = event;
  history->last_keyed = event;
  ++history->blocks;
}

void PrefixWatch::NoteEvicted(RequestId by, int group, uint64_t key) {
  KeyHistory* history = Find(group, key);
  if (history == nullptr) return;
  KVSIM_CHECK(history->blocks > 0);
  if (--history->blocks == 0) history->gone = {step_, time_ns_, by};
}

const KeyHistory& PrefixWatch::Of(int group, int64_t tokens) const {
  KVSIM_CHECK(tokens > 0 && tokens % key_tokens_ == 0 && tokens <= longest());
  return groups_[static_cast<size_t>(group)]
                [static_cast<size_t>(tokens / key_tokens_ - 1)];
}

bool PrefixWatch::HasNow(int group, const HitRules::Needed& needed) const {
  const int64_t end = std::min(needed.or_until, longest());
  for (int64_t t = needed.tokens; t <= end; t += key_tokens_) {
    if (Of(group, t).now()) return true;
  }
  return false;
}

bool PrefixWatch::HadEver(int group, const HitRules::Needed& needed) const {
  const int64_t end = std::min(needed.or_until, longest());
  for (int64_t t = needed.tokens; t <= end; t += key_tokens_) {
    if (Of(group, t).ever()) return true;
  }
  return false;
}

int64_t PrefixWatch::LongestEver(int64_t limit) const {
  int64_t t = std::min(limit, longest()) / key_tokens_ * key_tokens_;
  for (; t > 0; t -= key_tokens_) {
    for (int g = 0; g < num_groups(); ++g) {
      if (Of(g, t).ever()) return t;
    }
  }
  return 0;
}

}  // namespace kvsim
