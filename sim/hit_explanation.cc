#include "sim/hit_explanation.h"

#include <algorithm>
#include <utility>

namespace kvsim {
namespace {

constexpr size_t kMostKept = 8;

using Needed = HitRules::Needed;

class Explainer {
 public:
  Explainer(const HitRules& rules, const PrefixWatch& watch)
      : rules_(rules), watch_(watch) {
    for (int g = 0; g < watch.num_groups(); ++g) order_.push_back(g);
  }

  // The longest hit from `length` down to `least`, in steps of `unit`, for which
  // every group ever had its keys.
  int64_t LongestEver(int64_t length, int64_t least, int64_t unit) {
    // Groups that need few keys first: they fail soonest.
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
      return rules_.NeededPrefixes(a, length).size() <
             rules_.NeededPrefixes(b, length).size();
    });
    while (length > least && !AllEver(length)) length -= unit;
    return std::max(length, least);
  }

  // The groups without a key now (or ever) that a hit at `tokens` takes.
  std::vector<GroupMiss> Missing(int64_t tokens, bool ever) const {
    std::vector<GroupMiss> misses;
    for (int g = 0; g < watch_.num_groups(); ++g) {
      GroupMiss miss = MissOf(g, tokens, ever);
      if (miss.missing > 0) misses.push_back(std::move(miss));
    }
    return misses;
  }

 private:
  bool AllEver(int64_t tokens) const {
    for (int g : order_) {
      const std::vector<Needed> needed = rules_.NeededPrefixes(g, tokens);
      for (size_t i = needed.size(); i-- > 0;) {
        if (!watch_.HadEver(g, needed[i])) return false;
      }
    }
    return true;
  }

  GroupMiss MissOf(int group, int64_t tokens, bool ever) const {
    GroupMiss miss{.group = group, .at_tokens = tokens};
    for (const Needed& needed : rules_.NeededPrefixes(group, tokens)) {
      ++miss.needed;
      if (ever ? watch_.HadEver(group, needed) : watch_.HasNow(group, needed)) {
        continue;
      }
      if (miss.missing++ > 0) continue;
      miss.tokens = needed.tokens;
      miss.key = Told(group, needed);
      miss.inside_block = needed.or_until > needed.tokens;
    }
    if (miss.missing == 0) return miss;
    const int64_t unit = watch_.key_tokens();
    for (int64_t t = tokens / unit * unit; t > 0; t -= unit) {
      if (!watch_.Of(group, t).ever()) continue;
      if (miss.num_kept++ < static_cast<int64_t>(kMostKept)) {
        miss.kept.push_back(t);
      }
    }
    return miss;
  }

  // The history of the key that would have done, if there was one.
  KeyHistory Told(int group, const Needed& needed) const {
    const int64_t end = std::min(needed.or_until, watch_.longest());
    for (int64_t t = needed.tokens; t <= end; t += watch_.key_tokens()) {
      if (watch_.Of(group, t).ever()) return watch_.Of(group, t);
    }
    return {};
  }

  const HitRules& rules_;
  const PrefixWatch& watch_;
  std::vector<int> order_;
};

// Adds [begin, end) unless it is empty; returns `end`, or `begin` when behind it.
int64_t AddPart(MissCause cause, int64_t begin, int64_t end,
                HitExplanation* why) {
  if (end <= begin) return begin;
  why->parts.push_back({cause, begin, end});
  return end;
}

}  // namespace

const char* MissCauseName(MissCause cause) {
  switch (cause) {
    case MissCause::kCachingOff:
      return "caching_off";
    case MissCause::kEvicted:
      return "evicted";
    case MissCause::kNotKept:
      return "not_kept";
    case MissCause::kNotComputed:
      return "not_computed";
    case MissCause::kDraft:
      return "draft";
    case MissCause::kRounding:
      return "rounding";
    case MissCause::kLastToken:
      return "last_token";
    case MissCause::kNeverCached:
      return "never_cached";
  }
  return "";
}

int64_t HitExplanation::Missed(MissCause cause) const {
  int64_t tokens = 0;
  for (const MissPart& part : parts) {
    if (part.cause == cause) tokens += part.tokens();
  }
  return tokens;
}

HitExplanation ExplainHit(const AdmissionNote& note, const SharedBefore& shared,
                          const HitRules* rules, const PrefixWatch& watch,
                          int64_t hit_unit) {
  HitExplanation why{.num_tokens = note.num_tokens,
                     .hit_tokens = note.hit_tokens,
                     .junction = note.junction,
                     .needed_blocks = note.needed_blocks,
                     .free_blocks = note.free_blocks};
  why.group_tokens.assign(note.group_tokens.begin(), note.group_tokens.end());
  why.shared_tokens = std::min(shared.tokens, note.num_tokens);
  why.shared_with = why.shared_tokens > 0 ? shared.with : -1;
  if (rules == nullptr) {
    AddPart(MissCause::kCachingOff, 0, note.num_tokens, &why);
    return why;
  }
  const int64_t hit = note.hit_tokens;
  const int64_t limit = std::min(why.shared_tokens, note.num_tokens - 1);
  const HitRules::Bound bound = rules->LongestHit(limit);
  const int64_t best = std::max(hit, bound.tokens);
  const int64_t known =
      std::max(watch.LongestEver(limit), std::min(shared.computed, limit));
  const int64_t computed =
      std::clamp(rules->LongestHit(known).tokens, hit, best);
  Explainer explainer(*rules, watch);
  const int64_t once = explainer.LongestEver(computed, hit, hit_unit);
  if (once > hit) why.evicted = explainer.Missing(once, false);
  if (computed > once) why.not_kept = explainer.Missing(computed, true);

  int64_t at = AddPart(MissCause::kEvicted, hit, once, &why);
  at = AddPart(MissCause::kNotKept, at, computed, &why);
  at = AddPart(MissCause::kNotComputed, at, best, &why);
  at = AddPart(MissCause::kDraft, at, bound.rounded, &why);
  at = AddPart(MissCause::kRounding, at, limit, &why);
  if (why.shared_tokens >= note.num_tokens - 1) {
    AddPart(MissCause::kLastToken, at, note.num_tokens, &why);
  } else {
    AddPart(MissCause::kNeverCached, at, note.num_tokens, &why);
  }
  return why;
}

}  // namespace kvsim
