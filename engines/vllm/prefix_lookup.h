// Finds the longest prefix that every cache group can serve.
//
// Model:      full attention is searched first, left to right; every other rule
//             then shortens the length that is left: a window needs its last
//             ceil((window − 1) / block) blocks, a chunk all blocks since its start,
//             a recurrent group one state. With three rules or more the rounds go
//             on until nothing shrinks. Lengths are multiples of the scheduler's
//             unit, or of the hash unit when hits are fine; then the last block of a
//             group may be hit in part.
//             Groups of one rule must all have a block. With a draft model full
//             attention gives its last block (fine: its last unit) back, and a
//             window looks one block further to end up at the same length.
//             When some group matched more than all together, that length is the
//             junction.
// Costs:      O(blocks looked at): full attention its hits, a window one look-up in
//             (blocks of a window) while it misses.
// Source:     HybridKVCacheCoordinator, find_longest_cache_hit of each manager
//             (2026-08-17).
#ifndef KVSIM_ENGINES_VLLM_PREFIX_LOOKUP_H_
#define KVSIM_ENGINES_VLLM_PREFIX_LOOKUP_H_

#include <cstdint>
#include <span>
#include <vector>

#include "allocator/block_pool.h"
#include "base/key_chain.h"
#include "engines/cache_listener.h"
#include "engines/vllm/cache_group.h"
#include "engines/vllm/prefix_hit.h"

namespace kvsim::vllm {

// The key of a group's block whose last token ends a prefix with this chain key.
inline BlockKey GroupKey(uint64_t chain_key, size_t group) {
  return chain_key + group * 0x9E3779B97F4A7C15u;
}
// The way back.
inline uint64_t ChainKey(BlockKey key, size_t group) {
  return key - group * 0x9E3779B97F4A7C15u;
}

class PrefixLookup final : public HitRules {
 public:
  // Keeps references; both outlive the look-up.
  PrefixLookup(const std::vector<CacheGroup>& groups, const CacheUnits& units,
               bool drops_last_hit, const BlockPool& pool);

  // The longest prefix of at most `limit` tokens. Fills *hit.
  void Find(KeyChain* keys, int64_t limit, PrefixHit* hit);

  // The longest prefix of at most `limit` tokens that each group has, asked alone.
  // 0 for groups that are never cached. Changes what the last Find() depended on.
  std::vector<int64_t> FindAlone(KeyChain* keys, int64_t limit);

  Bound LongestHit(int64_t limit) const override;
  std::vector<Needed> NeededPrefixes(int group, int64_t tokens) const override;

  // What the last Find() depended on: the blocks of its runs, whether they ended up
  // in the hit or not, and the keys that it missed.
  std::span<const BlockId> seen_blocks() const { return seen_; }
  std::span<const BlockKey> missed_keys() const { return missed_; }

 private:
  // Groups of one rule.
  struct Rule {
    CacheGroup group;
    std::vector<size_t> members;
  };

  int64_t FindRule(const Rule& rule, int64_t limit, PrefixHit* hit);
  int64_t FindFull(const Rule& rule, int64_t limit, PrefixHit* hit);
  int64_t FindWindow(const Rule& rule, int64_t limit, PrefixHit* hit);
  int64_t FindChunk(const Rule& rule, int64_t limit, PrefixHit* hit);
  int64_t FindState(const Rule& rule, int64_t limit, PrefixHit* hit);
  int64_t ShortenFull(const Rule& rule, int64_t limit, PrefixHit* hit) const;
  int64_t LongestOf(const CacheGroup& group, int64_t limit, bool drops) const;
  int64_t LongestOfAll(int64_t limit, bool drops) const;

  // Whether all members have a block for the prefix of `tokens` tokens; found_
  // holds them then.
  bool Match(const Rule& rule, int64_t tokens);
  void AppendFound(const Rule& rule, PrefixHit* hit) const;
  void Truncate(const Rule& rule, int64_t blocks, PrefixHit* hit) const;
  void CountUnheld(PrefixHit* hit) const;

  const CacheUnits units_;
  const int64_t unit_;  // hits are multiples of it
  const bool drops_last_hit_;
  const BlockPool& pool_;
  const std::vector<CacheGroup>& groups_;
  std::vector<Rule> rules_;  // full attention first

  std::span<const uint64_t> keys_;  // of the request being looked up
  std::vector<BlockId> found_;
  std::vector<BlockId> seen_;
  std::vector<BlockKey> missed_;
};

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_PREFIX_LOOKUP_H_
