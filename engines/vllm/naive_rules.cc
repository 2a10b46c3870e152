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

bool NaiveRules::IsBoundary(int64_t b, int64_t num_prompt,
                            int64_t junction) const {
  const int64_t unit = scheduler_unit;
  const bool at_end = b == (num_prompt - 1) / unit * unit;
  const bool at_branch = b == junction / unit * unit;
  if (!settings.checkpoints.has_value()) {
    return at_end || at_branch || !settings.retention_interval.has_value() ||
           (*settings.retention_interval > 0 &&
            b % *settings.retention_interval == 0);
  }
  const CheckpointPolicy& policy = *settings.checkpoints;
  bool kept = policy.dense || (policy.prompt_end && at_end) ||
              (policy.branch_points && at_branch);
  for (int64_t c = policy.every; c > 0 && c < b + unit; c += policy.every) {
    kept = kept || c / unit * unit == b;
  }
  for (int64_t c = policy.geometric; c > 0 && c < b + unit; c *= 2) {
    kept = kept || c / unit * unit == b;
  }
  return kept;
}

// Full attention alone can be hit after every block.
bool NaiveRules::EndsSegment(int64_t b, int64_t num_prompt,
                             int64_t junction) const {
  const bool only_full = std::all_of(
      settings.groups.begin(), settings.groups.end(), [](const auto& g) {
        return g.kind == GroupKind::kFull || g.kind == GroupKind::kCross;
      });
  return only_full || IsBoundary(b, num_prompt, junction);
}

int64_t NaiveRules::Worth(int64_t end, int64_t num_prompt,
                          int64_t junction) const {
  int64_t tails = 0;
  for (size_t g = 0; g < settings.groups.size(); ++g) {
    const GroupKind kind = settings.groups[g].kind;
    if (kind == GroupKind::kFull || kind == GroupKind::kCross) continue;
    tails += kind == GroupKind::kChunkedLocal ? 1 : TailBlocks(g);
  }
  const CheckpointPolicy& policy = *settings.checkpoints;
  const int64_t farthest =
      std::max({num_prompt, junction, end + policy.every,
                2 * (end + scheduler_unit) + policy.geometric}) +
      scheduler_unit;
  int64_t before = 0;
  for (int64_t b = scheduler_unit; b <= farthest; b += scheduler_unit) {
    if (!EndsSegment(b, num_prompt, junction)) continue;
    if (b < end) {
      before = b;
      continue;
    }
    int64_t blocks = tails;
    for (const CacheGroup& g : settings.groups) {
      if (g.kind == GroupKind::kFull) blocks += (b - before) / g.block_tokens;
    }
    const auto cost = [this](int64_t n) {
      const int64_t balance = settings.attention_balance;
      return balance == 0 ? n : n + n * n / (2 * balance);
    };
    return *policy.value_permille * (cost(b) - cost(before)) /
           std::max<int64_t>(blocks, 1);
  }
  return 0;
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
  const int64_t reach = TailBlocks(group) * g.block_tokens;
  for (int64_t b = scheduler_unit; b <= begin + reach + scheduler_unit;
       b += scheduler_unit) {
    const bool kept = IsBoundary(b, num_prompt, junction);
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
