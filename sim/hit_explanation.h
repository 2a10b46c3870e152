// Why an admission hit what it hit, and why it missed the rest.
//
// Model:      the tokens that were not served are divided by what would have had to
//             be otherwise, from the prompt's end down to the hit:
//               never cached   no request before had these tokens;
//               last token     one token is always computed;
//               rounding       hits are multiples of a unit;
//               draft          with a draft model the hit gives its last unit back;
//               not computed   a request has the tokens and had not come that far;
//               not kept       they were computed, but some group keeps no key there
//                              (a state between checkpoints, a window's tail);
//               evicted        every group once had the prefix and some lost it.
//             So the hit plus `evicted` is what a pool without end would have
//             served, plus `not kept` what keys everywhere would, and so on.
// Invariants: (1) the parts are in order, meet, and with the hit make the known
//             tokens; (2) a part of 0 tokens is left out.
// Units:      tokens of the request; times as the watch has them.
#ifndef KVSIM_SIM_HIT_EXPLANATION_H_
#define KVSIM_SIM_HIT_EXPLANATION_H_

#include <cstdint>
#include <vector>

#include "engines/cache_listener.h"
#include "engines/engine.h"
#include "sim/prefix_watch.h"

namespace kvsim {

enum class MissCause : uint8_t {
  kCachingOff,
  kEvicted,
  kNotKept,
  kNotComputed,
  kDraft,
  kRounding,
  kLastToken,
  kNeverCached,
};
// "caching_off", "evicted", …
const char* MissCauseName(MissCause cause);

struct MissPart {
  MissCause cause = MissCause::kNeverCached;
  int64_t begin = 0, end = 0;  // tokens [begin, end)

  int64_t tokens() const { return end - begin; }
};

// A group that lacked keys for a hit at `at_tokens`.
struct GroupMiss {
  int group = 0;
  int64_t at_tokens = 0;
  int64_t needed = 0;   // keys that such a hit takes
  int64_t missing = 0;  // of which it had not
  // The first of them: the prefix that the key names, and what became of it.
  int64_t tokens = 0;
  KeyHistory key;
  // It ends inside a block, where only the last unit of a prompt gets a key.
  bool inside_block = false;
  // The prefixes below at_tokens of which the group ever had a key: how many, and
  // the longest few, longest first.
  int64_t num_kept = 0;
  std::vector<int64_t> kept;
};

struct HitExplanation {
  int64_t num_tokens = 0;  // known at this admission
  int64_t hit_tokens = 0;
  int64_t junction =
      0;  // kept from now on, for the next that shares it; 0: none
  int64_t needed_blocks = 0, free_blocks = 0;
  std::vector<int64_t> group_tokens;  // what each group had, asked alone

  // The longest prefix that requests known by then have in common with it, and the
  // first of them; itself at a resumption.
  int64_t shared_tokens = 0;
  RequestId shared_with = -1;

  std::vector<MissPart> parts;
  std::vector<GroupMiss> evicted;   // at the end of that part
  std::vector<GroupMiss> not_kept;  // likewise

  int64_t Missed(MissCause cause) const;
};

// What others had of the request when it was admitted.
struct SharedBefore {
  int64_t tokens = 0;  // the longest common prefix
  RequestId with = -1;
  int64_t computed = 0;  // of which somebody had come to compute
};

// `rules` null: prefix caching is off. `watch` as it is before blocks are taken;
// REQUIRES: it watches every key of the first note.num_tokens - 1 tokens.
HitExplanation ExplainHit(const AdmissionNote& note, const SharedBefore& shared,
                          const HitRules* rules, const PrefixWatch& watch,
                          int64_t hit_unit);

}  // namespace kvsim

#endif  // KVSIM_SIM_HIT_EXPLANATION_H_
