// What an engine tells and answers whoever explains one request's life.
//
// Model:      a CacheListener hears of every key that appears or vanishes, and of
//             every admission, refusal and preemption with its cause, at the moment
//             it happens, inside Schedule() or Complete(). HitRules answer what the
//             look-up would need. Keys are those of the request's chain, whichever
//             group: key i − 1 of KeyChain ends at token i · (tokens per key).
// Costs:      an engine without a listener pays one branch per key and refusal; with
//             one, every admission looks its prefix up once more per group.
// Threads:    one per simulation.
#ifndef KVSIM_ENGINES_CACHE_LISTENER_H_
#define KVSIM_ENGINES_CACHE_LISTENER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "engines/engine.h"

namespace kvsim {

// An admission, before its blocks are taken; not that of a swapped request.
struct AdmissionNote {
  RequestId id = 0;
  int64_t num_tokens = 0;  // known by then: prompt, and outputs at a resumption
  int64_t hit_tokens = 0;  // what all groups could serve together
  int64_t junction = 0;    // a longer prefix that some had; 0: none
  int64_t needed_blocks = 0;
  int64_t free_blocks = 0;
  // The longest prefix that each group could have served alone; empty without a
  // prefix cache.
  std::span<const int64_t> group_tokens;
};

// A waiting request that was looked at and not admitted.
struct RefusalNote {
  RequestId id = 0;
  AdmissionLimit limit = AdmissionLimit::kNoneWaiting;
  // Of kGate and kBlocks; else 0. free_blocks is less the watermark.
  int64_t needed_blocks = 0;
  int64_t free_blocks = 0;
};

struct PreemptionNote {
  RequestId victim = 0;
  RequestId by = 0;             // who needed blocks; the victim itself at times
  bool swapped = false;         // its rows went to host memory: nothing is lost
  int64_t computed_tokens = 0;  // that the victim loses ...
  int64_t in_flight = 0;        // ... of which no results have come back
  int64_t needed_blocks = 0;    // by `by`
  int64_t free_blocks = 0;
};

// A request that came back from host memory.
struct SwapInNote {
  RequestId id = 0;
  int64_t num_tokens = 0;       // known by then
  int64_t computed_tokens = 0;  // that came back
  int64_t blocks = 0;           // that moved
};

class CacheListener {
 public:
  virtual ~CacheListener() = default;
  // A block of `by` makes the prefix hittable in `group`.
  virtual void OnKeyed(RequestId /*by*/, int /*group*/, uint64_t /*key*/) {}
  // `by` took a block that carried the key.
  virtual void OnEvicted(RequestId /*by*/, int /*group*/, uint64_t /*key*/) {}
  virtual void OnAdmitted(const AdmissionNote&) {}
  virtual void OnSwappedIn(const SwapInNote&) {}
  virtual void OnRefused(const RefusalNote&) {}
  virtual void OnPreempted(const PreemptionNote&) {}
};

// What a hit takes, whatever is cached.
class HitRules {
 public:
  virtual ~HitRules() = default;

  // The longest hit in a prefix of `limit` tokens of which every group has every
  // key: rounded, and after what drafts cost.
  struct Bound {
    int64_t rounded = 0;  // to the unit of hits
    int64_t tokens = 0;   // … less what a draft model gives back
  };
  virtual Bound LongestHit(int64_t limit) const = 0;
  // One key that a hit takes: of the prefix of `tokens` tokens, or of a longer one
  // up to `or_until`, which ends in the same block.
  struct Needed {
    int64_t tokens = 0;
    int64_t or_until = 0;
    friend bool operator==(const Needed&, const Needed&) = default;
  };
  // What `group` must have for a hit of `tokens` tokens, ascending; with drafts what
  // is behind the hit too. REQUIRES: LongestHit(x) can be `tokens` for some x.
  virtual std::vector<Needed> NeededPrefixes(int group,
                                             int64_t tokens) const = 0;
};

}  // namespace kvsim

#endif  // KVSIM_ENGINES_CACHE_LISTENER_H_
