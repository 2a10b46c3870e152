#include "engines/vllm/naive_lookup.h"

#include <algorithm>
#include <span>

namespace kvsim::vllm {
namespace {

class Search {
 public:
  Search(const NaiveRules& rules, const NaivePool& pool,
         const NaivePool::Tokens& tokens, int64_t known,
         bool last_of_equals_only)
      : rules_(rules),
        pool_(pool),
        tokens_(tokens),
        known_(known),
        last_only_(last_of_equals_only) {
    hit_.groups.resize(rules.settings.groups.size());
  }

  NaiveHit Run() {
    // One rule, or one beside full attention: one pass. More: until nothing
    // shrinks. Open in what is told: several groups of one rule; and whether the
    // junction looks at each group alone, or as here, at what the groups before
    // it left.
    const bool simple = rules_.joint.size() == 1 ||
                        (rules_.joint.size() == 2 && IsFull(rules_.joint[0]));
    int64_t length = known_ - 1, longest = 0;
    for (int64_t round = 0;; ++round) {
      int64_t now = length;
      for (const NaiveRules::Joint& joint : rules_.joint) {
        now = round > 0 && IsFull(joint) ? now : Longest(joint, now);
        longest = std::max(longest, now);
      }
      const bool stable = now >= length;
      length = now;
      if (stable || simple) break;
    }
    Cut(length);
    hit_.tokens = length;
    const bool hybrid = rules_.joint.size() > 1;
    if (hybrid && rules_.settings.junctions && longest > length) {
      hit_.junction = longest;
    }
    return std::move(hit_);
  }

 private:
  const CacheGroup& Group(const NaiveRules::Joint& joint) const {
    return rules_.settings.groups[joint[0]];
  }
  bool IsFull(const NaiveRules::Joint& joint) const {
    return Group(joint).kind == GroupKind::kFull;
  }
  static int64_t Down(int64_t n, int64_t unit) { return n / unit * unit; }

  // All groups have a block for the first n tokens.
  bool Has(const NaiveRules::Joint& joint, int64_t n) const {
    // Not even the block behind a draft model's hit is looked for where the
    // last token would be served (open in what is told).
    if (n >= known_) return false;
    const auto begin = last_only_ ? joint.end() - 1 : joint.begin();
    return std::all_of(begin, joint.end(), [&](size_t g) {
      return pool_.Find(g, std::span(tokens_).first(static_cast<size_t>(n))) !=
             kNullBlock;
    });
  }
  void Put(const NaiveRules::Joint& joint, int64_t n) {
    for (size_t g : joint) {
      hit_.groups[g].push_back(
          pool_.Find(g, std::span(tokens_).first(static_cast<size_t>(n))));
    }
  }
  void Nulls(const NaiveRules::Joint& joint, int64_t n) {
    for (size_t g : joint) {
      hit_.groups[g].assign(static_cast<size_t>(n), kNullBlock);
    }
  }

  int64_t Longest(const NaiveRules::Joint& joint, int64_t limit) {
    for (size_t g : joint) hit_.groups[g].clear();
    switch (Group(joint).kind) {
      case GroupKind::kFull:
        return LongestFull(joint, limit);
      case GroupKind::kSlidingWindow:
        return LongestTail(joint, limit);
      case GroupKind::kChunkedLocal:
        return LongestChunk(joint, limit);
      case GroupKind::kRecurrent:
        return LatestState(joint, limit);
      case GroupKind::kCross:
        break;
    }
    return limit;
  }

  // A run from block 0, then a part of the next block; with a draft model the
  // last block of it, or the last unit of fine hits, is computed again.
  int64_t LongestFull(const NaiveRules::Joint& joint, int64_t limit) {
    const int64_t block = Group(joint).block_tokens;
    int64_t n = 0;
    while (n + block <= limit && Has(joint, n + block)) {
      n += block;
      Put(joint, n);
    }
    if (rules_.fine) {
      const int64_t highest =
          std::min(Down(limit, rules_.hit_unit), n + block - 1);
      for (int64_t end = Down(highest, rules_.hit_unit); end > n;
           end -= rules_.hit_unit) {
        if (!Has(joint, end)) continue;
        Put(joint, end);
        n = end;
        break;
      }
    }
    if (rules_.settings.DropsLastHit() && n > 0) {
      n -= rules_.fine ? rules_.hit_unit : block;
    }
    return Down(n, rules_.hit_unit);
  }

  // The rightmost end before which a window's blocks are all there.
  int64_t LongestTail(const NaiveRules::Joint& joint, int64_t limit) {
    const int64_t block = Group(joint).block_tokens;
    const bool draft = rules_.settings.DropsLastHit();
    for (int64_t end = Down(limit, rules_.hit_unit); end > 0;
         end -= rules_.hit_unit) {
      const int64_t begin =
          std::max<int64_t>(0, end - rules_.TailBlocks(joint[0]) * block);
      bool all = !draft || Has(joint, end + block);
      for (int64_t n = begin; n < end && all; n += block) {
        all = Has(joint, n + block);
      }
      if (!all) continue;
      Nulls(joint, begin / block);
      for (int64_t n = begin; n < end; n += block) Put(joint, n + block);
      return end;
    }
    return 0;
  }

  // Blocks before the chunk that holds the limit count as there, whatever the
  // hit comes to: a chunk that is no multiple of the block can serve a prefix
  // whose own chunk nobody has (the engine's models have none such).
  int64_t LongestChunk(const NaiveRules::Joint& joint, int64_t limit) {
    const int64_t block = Group(joint).block_tokens;
    int64_t n = rules_.Skipped(joint[0], limit) / block * block;
    Nulls(joint, n / block);
    for (; n + block <= limit && Has(joint, n + block); n += block) {
      Put(joint, n + block);
    }
    n = Down(n, rules_.hit_unit);
    for (size_t g : joint)
      hit_.groups[g].resize(static_cast<size_t>(n / block));
    return n;
  }

  int64_t LatestState(const NaiveRules::Joint& joint, int64_t limit) {
    for (int64_t end = Down(limit, rules_.hit_unit); end > 0;
         end -= rules_.hit_unit) {
      if (!Has(joint, end)) continue;
      Nulls(joint, (end - 1) / Group(joint).block_tokens);
      Put(joint, end);
      return end;
    }
    return 0;
  }

  // Full attention can serve any shorter prefix of its own.
  void Cut(int64_t length) {
    for (const NaiveRules::Joint& joint : rules_.joint) {
      if (!IsFull(joint)) continue;
      const int64_t block = Group(joint).block_tokens;
      for (size_t g : joint) {
        hit_.groups[g].resize(static_cast<size_t>((length + block - 1) / block),
                              kNullBlock);
      }
    }
  }

  const NaiveRules& rules_;
  const NaivePool& pool_;
  const NaivePool::Tokens& tokens_;
  const int64_t known_;
  const bool last_only_;
  NaiveHit hit_;
};

}  // namespace

NaiveHit NaiveFind(const NaiveRules& rules, const NaivePool& pool,
                   const NaivePool::Tokens& tokens, int64_t known,
                   bool last_of_equals_only) {
  if (!rules.settings.enable_prefix_caching || rules.joint.empty()) {
    NaiveHit nothing;
    nothing.groups.resize(rules.settings.groups.size());
    return nothing;
  }
  return Search(rules, pool, tokens, known, last_of_equals_only).Run();
}

}  // namespace kvsim::vllm
