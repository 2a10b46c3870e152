#include "engines/vllm/naive_rules.h"

#include <algorithm>
#include <numeric>

namespace kvsim::vllm {
namespace {

bool Equal(const CacheGroup& a, const CacheGroup& b) {
  if (a.kind != b.kind || a.block_tokens != b.block_tokens) return false;
  switch (a.kind) {
    case GroupKind::kSlidingWindow:
      return a.window == b.window && a.extra_window == b.extra_window;
    case GroupKind::kChunkedLocal:
      return a.chunk == b.chunk;
    case GroupKind::kRecurrent:
      return a.state_mode == b.state_mode;
    case GroupKind::kFull:
    case GroupKind::kCross:
      return true;
  }
  return true;
}

}  // namespace

// Cross attention takes no part in caching: the engine turns caching off for
// models that have it.
NaiveRules::NaiveRules(const Settings& s) : settings(s) {
  scheduler_unit = 1;
  bool aligned = true, small_windows = true;
  for (const CacheGroup& g : s.groups) {
    if (g.kind == GroupKind::kCross) continue;
    scheduler_unit = std::lcm(scheduler_unit, g.block_tokens);
    hash_unit = std::gcd(hash_unit, g.block_tokens);
    if (g.kind == GroupKind::kRecurrent && g.state_mode != StateMode::kAlign) {
      aligned = false;
    }
  }
  hash_unit = s.prefix_match_unit.value_or(hash_unit);
  if (!aligned || hash_unit == 0) hash_unit = scheduler_unit;
  for (const CacheGroup& g : s.groups) {
    if ((g.kind == GroupKind::kSlidingWindow ||
         g.kind == GroupKind::kChunkedLocal) &&
        g.block_tokens != hash_unit) {
      small_windows = false;
    }
  }
  fine = small_windows && hash_unit < scheduler_unit && s.partial_hits;
  hit_unit = fine ? hash_unit : scheduler_unit;

  std::vector<Joint> others;
  for (size_t g = 0; g < s.groups.size(); ++g) {
    if (s.groups[g].kind == GroupKind::kCross) continue;
    auto& list = s.groups[g].kind == GroupKind::kFull ? joint : others;
    const auto same = std::find_if(list.begin(), list.end(), [&](auto& j) {
      return Equal(s.groups[j[0]], s.groups[g]);
    });
    if (same == list.end()) {
      list.push_back({g});
    } else {
      same->push_back(g);
    }
  }
  joint.insert(joint.end(), others.begin(), others.end());
}

bool NaiveRules::Aligned(size_t group) const {
  const CacheGroup& g = settings.groups[group];
  return g.kind == GroupKind::kRecurrent && g.state_mode == StateMode::kAlign;
}

int64_t NaiveRules::Skipped(size_t group, int64_t computed) const {
  const CacheGroup& g = settings.groups[group];
  switch (g.kind) {
    case GroupKind::kFull:
    case GroupKind::kCross:
      return 0;
    case GroupKind::kSlidingWindow:
      return std::max<int64_t>(0, computed - g.window + 1 - g.extra_window);
    case GroupKind::kChunkedLocal:
      return computed / g.chunk * g.chunk;
    case GroupKind::kRecurrent:  // only the state of the last token is read
      return Aligned(group) ? std::max<int64_t>(0, computed - 1) : 0;
  }
  return 0;
}

int64_t NaiveRules::TailBlocks(size_t group) const {
  const CacheGroup& g = settings.groups[group];
  if (g.kind == GroupKind::kRecurrent) return 1;
  int64_t blocks = 0;
  while (blocks * g.block_tokens < g.window - 1) ++blocks;
  return blocks;
}

bool NaiveRules::Keeps(size_t group, int64_t index, int64_t num_prompt,
                       int64_t junction) const {
  const CacheGroup& g = settings.groups[group];
  const bool sparse =
      g.kind == GroupKind::kSlidingWindow || g.kind == GroupKind::kRecurrent;
  if (!sparse || !settings.sparse_keys) return true;
  // With a draft model a window's hit looks one block beyond its end.
  const bool margin =
      g.kind == GroupKind::kSlidingWindow && settings.DropsLastHit();
  const int64_t begin = index * g.block_tokens, end = begin + g.block_tokens;
  const int64_t last = (num_prompt - 1) / scheduler_unit * scheduler_unit;
  const int64_t shared = junction / scheduler_unit * scheduler_unit;
  const int64_t reach = TailBlocks(group) * g.block_tokens;
  for (int64_t b = scheduler_unit; b <= begin + reach + scheduler_unit;
       b += scheduler_unit) {
    const bool kept = b == last || b == shared ||
                      !settings.retention_interval.has_value() ||
                      (*settings.retention_interval > 0 &&
                       b % *settings.retention_interval == 0);
    if (kept && end <= b && begin >= b - reach) return true;
    if (kept && margin && begin == b) return true;
  }
  return false;
}

int64_t NaiveRules::KeyedTokens(size_t group, int64_t known) const {
  const CacheGroup& g = settings.groups[group];
  const int64_t keyed = known / scheduler_unit * scheduler_unit;
  const bool margin =
      settings.DropsLastHit() && g.kind != GroupKind::kRecurrent;
  return margin && keyed + g.block_tokens <= known ? keyed + g.block_tokens
                                                   : keyed;
}

}  // namespace kvsim::vllm
