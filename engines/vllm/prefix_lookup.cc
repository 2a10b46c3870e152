#include "engines/vllm/prefix_lookup.h"

#include <algorithm>

#include "base/check.h"
#include "base/units.h"

namespace kvsim::vllm {
namespace {

// How far the keys of a full-attention run are announced ahead.
constexpr size_t kAhead = 8;

}  // namespace

PrefixLookup::PrefixLookup(const std::vector<CacheGroup>& groups,
                           const CacheUnits& units, bool drops_last_hit,
                           const BlockPool& pool)
    : units_(units),
      unit_(units.fine_hits ? units.hash_tokens : units.scheduler_tokens),
      drops_last_hit_(drops_last_hit),
      pool_(pool),
      groups_(groups) {
  for (size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].kind == GroupKind::kCross) continue;  // never cached
    const auto rule = std::find_if(
        rules_.begin(), rules_.end(),
        [&](const Rule& r) { return r.group.SameRule(groups[g]); });
    if (rule != rules_.end()) {
      rule->members.push_back(g);
    } else {
      rules_.push_back({groups[g], {g}});
    }
  }
  std::stable_partition(rules_.begin(), rules_.end(), [](const Rule& r) {
    return r.group.kind == GroupKind::kFull;
  });
}

void PrefixLookup::Find(KeyChain* keys, int64_t limit, PrefixHit* hit) {
  seen_.clear();
  missed_.clear();
  hit->groups.resize(groups_.size());
  for (GroupHit& group : hit->groups) {
    group.blocks.clear();
    group.nulls = group.unheld = 0;
  }
  hit->tokens = hit->junction = 0;
  if (rules_.empty() || limit <= 0) return;
  keys_ = keys->Prefix(limit / units_.hash_tokens);
  const bool two_rules = rules_.size() == 2;
  const bool starts_full = rules_[0].group.kind == GroupKind::kFull;
  int64_t length = limit, longest = 0;
  for (bool first = true;; first = false) {
    int64_t shortest = length;
    for (const Rule& rule : rules_) {
      shortest = !first && rule.group.kind == GroupKind::kFull
                     ? ShortenFull(rule, shortest, hit)
                     : FindRule(rule, shortest, hit);
      longest = std::max(longest, shortest);
    }
    const bool stable = shortest >= length;
    length = shortest;
    if (stable || rules_.size() == 1 || (two_rules && starts_full)) break;
  }
  for (const Rule& rule : rules_) {
    if (rule.group.kind == GroupKind::kFull) ShortenFull(rule, length, hit);
  }
  hit->tokens = length;
  if (rules_.size() > 1 && longest > length) hit->junction = longest;
  CountUnheld(hit);
}

int64_t PrefixLookup::FindRule(const Rule& rule, int64_t limit,
                               PrefixHit* hit) {
  Truncate(rule, 0, hit);
  switch (rule.group.kind) {
    case GroupKind::kFull:
      return FindFull(rule, limit, hit);
    case GroupKind::kSlidingWindow:
      return FindWindow(rule, limit, hit);
    case GroupKind::kChunkedLocal:
      return FindChunk(rule, limit, hit);
    case GroupKind::kRecurrent:
      return FindState(rule, limit, hit);
    case GroupKind::kCross:
      break;
  }
  KVSIM_CHECK(false) << "cross attention is never cached";
  return 0;
}

bool PrefixLookup::Match(const Rule& rule, int64_t tokens) {
  const auto at = static_cast<size_t>(tokens / units_.hash_tokens - 1);
  const bool whole = tokens % rule.group.block_tokens == 0;
  found_.clear();
  for (size_t g : rule.members) {
    const BlockKey key = GroupKey(keys_[at], g);
    const BlockId id = whole ? pool_.Find(key) : pool_.FindPartial(key);
    if (id == kNullBlock) {
      missed_.push_back(key);
      return false;
    }
    found_.push_back(id);
  }
  seen_.insert(seen_.end(), found_.begin(), found_.end());
  return true;
}

void PrefixLookup::AppendFound(const Rule& rule, PrefixHit* hit) const {
  for (size_t i = 0; i < found_.size(); ++i) {
    hit->groups[rule.members[i]].blocks.push_back(found_[i]);
  }
}

void PrefixLookup::Truncate(const Rule& rule, int64_t blocks,
                            PrefixHit* hit) const {
  for (size_t g : rule.members) {
    GroupHit& group = hit->groups[g];
    const int64_t kept = std::max<int64_t>(0, blocks - group.nulls);
    if (static_cast<int64_t>(group.blocks.size()) > kept) {
      group.blocks.resize(static_cast<size_t>(kept));
    }
    group.nulls = std::min(group.nulls, blocks);
  }
}

int64_t PrefixLookup::FindFull(const Rule& rule, int64_t limit,
                               PrefixHit* hit) {
  const int64_t block = rule.group.block_tokens;
  const auto stride = static_cast<size_t>(block / units_.hash_tokens);
  const auto most = static_cast<size_t>(limit / block);
  size_t run = 0;
  for (; run < most; ++run) {
    const size_t at = (run + 1) * stride - 1;
    if (run + kAhead < most) {
      for (size_t g : rule.members) {
        pool_.PrefetchKey(GroupKey(keys_[at + kAhead * stride], g));
      }
    }
    // Match() written out: through found_ a long hit takes a third longer.
    bool all = true;
    for (size_t g : rule.members) {
      const BlockKey key = GroupKey(keys_[at], g);
      const BlockId id = pool_.Find(key);
      if (id == kNullBlock) {
        missed_.push_back(key);
        all = false;
        break;
      }
      hit->groups[g].blocks.push_back(id);
    }
    if (!all) break;
  }
  for (size_t g : rule.members) {
    const std::vector<BlockId>& blocks = hit->groups[g].blocks;
    seen_.insert(seen_.end(), blocks.begin(), blocks.end());
  }
  Truncate(rule, static_cast<int64_t>(run), hit);
  int64_t length = static_cast<int64_t>(run) * block;
  if (units_.fine_hits) {
    const int64_t end = std::min(limit, length + block - 1);
    for (int64_t t = RoundDown(end, unit_); t > length; t -= unit_) {
      if (!Match(rule, t)) continue;
      AppendFound(rule, hit);
      length = t;
      break;
    }
  }
  if (drops_last_hit_ && length > 0) {
    length -= units_.fine_hits ? unit_ : block;
  }
  return ShortenFull(rule, length, hit);
}

int64_t PrefixLookup::ShortenFull(const Rule& rule, int64_t limit,
                                  PrefixHit* hit) const {
  const int64_t length = RoundDown(limit, unit_);
  Truncate(rule, CeilDiv(length, rule.group.block_tokens), hit);
  return length;
}

int64_t PrefixLookup::FindWindow(const Rule& rule, int64_t limit,
                                 PrefixHit* hit) {
  const int64_t block = rule.group.block_tokens;
  // With a draft model the block behind the hit must be there too.
  const int64_t margin = drops_last_hit_ ? 1 : 0;
  const int64_t known =
      static_cast<int64_t>(keys_.size()) * units_.hash_tokens / block;
  const int64_t need = CeilDiv(rule.group.window - 1, block) + margin;
  // Lengths are tried from the longest; one ends `margin` blocks before `end`.
  int64_t length = RoundDown(limit, unit_);
  length = std::min(
      length, RoundDown(std::max<int64_t>(0, known - margin) * block, unit_));
  int64_t begin = 0;
  while (length > 0) {
    const int64_t end = length / block + margin;
    begin = std::max<int64_t>(0, end - need);
    int64_t i = begin;
    while (i < end && Match(rule, (i + 1) * block)) ++i;
    if (i == end) break;
    length = std::min(length - 1, (i - margin) * block);
    length = length <= 0 ? 0 : RoundDown(length, unit_);
  }
  if (length <= 0) return 0;
  for (size_t g : rule.members) hit->groups[g].nulls = begin;
  for (int64_t i = begin; i < length / block; ++i) {
    const auto at =
        static_cast<size_t>((i + 1) * block / units_.hash_tokens - 1);
    for (size_t g : rule.members) {
      hit->groups[g].blocks.push_back(pool_.Find(GroupKey(keys_[at], g)));
    }
  }
  return length;
}

int64_t PrefixLookup::FindChunk(const Rule& rule, int64_t limit,
                                PrefixHit* hit) {
  const int64_t block = rule.group.block_tokens;
  const int64_t chunk_begin = RoundDown(limit, rule.group.chunk) / block;
  for (size_t g : rule.members) hit->groups[g].nulls = chunk_begin;
  int64_t i = chunk_begin;
  for (; (i + 1) * block <= limit && Match(rule, (i + 1) * block); ++i) {
    AppendFound(rule, hit);
  }
  const int64_t length = RoundDown(i * block, unit_);
  Truncate(rule, length / block, hit);
  return length;
}

int64_t PrefixLookup::FindState(const Rule& rule, int64_t limit,
                                PrefixHit* hit) {
  int64_t t = RoundDown(limit, unit_);
  while (t > 0 && !Match(rule, t)) t -= unit_;
  if (t == 0) return 0;
  for (size_t g : rule.members) {
    hit->groups[g].nulls = CeilDiv(t, rule.group.block_tokens) - 1;
  }
  AppendFound(rule, hit);
  return t;
}

void PrefixLookup::CountUnheld(PrefixHit* hit) const {
  for (GroupHit& group : hit->groups) {
    for (BlockId id : group.blocks) {
      if (id != kNullBlock && pool_.RefCount(id) == 0) ++group.unheld;
    }
  }
}

// --- what a hit takes -------------------------------------------------------------

std::vector<int64_t> PrefixLookup::FindAlone(KeyChain* keys, int64_t limit) {
  std::vector<int64_t> lengths;
  for (size_t g = 0; g < groups_.size(); ++g) {
    lengths.push_back(0);
    if (groups_[g].kind == GroupKind::kCross || limit <= 0) continue;
    PrefixHit hit;
    hit.groups.resize(groups_.size());
    keys_ = keys->Prefix(limit / units_.hash_tokens);
    lengths.back() = FindRule({groups_[g], {g}}, limit, &hit);
  }
  return lengths;
}

// What FindRule() returns when it misses nothing.
int64_t PrefixLookup::LongestOf(const CacheGroup& group, int64_t limit,
                                bool drops) const {
  const int64_t block = group.block_tokens;
  const int64_t known = RoundDown(limit, units_.hash_tokens);
  switch (group.kind) {
    case GroupKind::kFull: {
      int64_t length = RoundDown(limit, units_.fine_hits ? unit_ : block);
      if (drops && length > 0) length -= units_.fine_hits ? unit_ : block;
      return RoundDown(length, unit_);
    }
    case GroupKind::kSlidingWindow: {
      const int64_t margin = drops ? block : 0;
      const int64_t whole =
          std::max<int64_t>(0, known / block * block - margin);
      return std::min(RoundDown(limit, unit_), RoundDown(whole, unit_));
    }
    case GroupKind::kChunkedLocal:
      return RoundDown(limit / block * block, unit_);
    case GroupKind::kRecurrent:
      return RoundDown(limit, unit_);
    case GroupKind::kCross:
      break;
  }
  return 0;
}

// Windows and chunks measure their margin from the keys there are, not from what
// full attention leaves, so one round is enough.
int64_t PrefixLookup::LongestOfAll(int64_t limit, bool drops) const {
  if (rules_.empty() || limit <= 0) return 0;
  int64_t longest = limit;
  for (const Rule& rule : rules_) {
    longest = std::min(longest, LongestOf(rule.group, limit, drops));
  }
  return longest;
}

HitRules::Bound PrefixLookup::LongestHit(int64_t limit) const {
  return {LongestOfAll(limit, false), LongestOfAll(limit, drops_last_hit_)};
}

std::vector<HitRules::Needed> PrefixLookup::NeededPrefixes(
    int group, int64_t tokens) const {
  const CacheGroup& g = groups_[static_cast<size_t>(group)];
  const int64_t block = g.block_tokens;
  std::vector<Needed> prefixes;
  if (tokens <= 0) return prefixes;
  int64_t begin = 0;  // in blocks
  int64_t end = tokens / block;
  switch (g.kind) {
    case GroupKind::kFull: {
      const int64_t drop = units_.fine_hits ? unit_ : block;
      const int64_t found = tokens + (drops_last_hit_ ? drop : 0);
      end = found / block;
      for (int64_t i = 1; i <= end; ++i) {
        prefixes.push_back({i * block, i * block});
      }
      if (found % block != 0) prefixes.push_back({found, (end + 1) * block});
      return prefixes;
    }
    case GroupKind::kSlidingWindow:
      end += drops_last_hit_ ? 1 : 0;
      begin = std::max<int64_t>(
          0, end - CeilDiv(g.window - 1, block) - (drops_last_hit_ ? 1 : 0));
      break;
    case GroupKind::kChunkedLocal:
      begin = RoundDown(tokens, g.chunk) / block;
      break;
    case GroupKind::kRecurrent:
      return {{tokens, tokens}};
    case GroupKind::kCross:
      return prefixes;
  }
  for (int64_t i = begin + 1; i <= end; ++i) {
    prefixes.push_back({i * block, i * block});
  }
  return prefixes;
}

}  // namespace kvsim::vllm
