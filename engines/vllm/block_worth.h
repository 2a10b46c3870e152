// What a cached block is worth when cached blocks go by value.
//
// Model:      a prefix can be hit at boundaries only, so what lies between two of
//             them is one segment: its rows in every group of full attention, and
//             the tails and states at its end. Having it saves the recompute of its
//             tokens; every block of it is worth
//                 weight · recompute(segment) / blocks(segment)
//             and, since no deeper segment is of use without it, at least what any
//             deeper segment of the same request is worth. A block's score is the
//             time of its last use plus its worth.
// Units:      scores are thousandths of tokens: time is the tokens scheduled so far,
//             recompute is counted in tokens of a prompt's start. A token at depth d
//             counts 1 + d / balance (Settings::attention_balance).
// Source:     Marconi (Pan et al., MLSys 2025): recency + weight · FLOPs saved per
//             byte, for a node of the prefix tree; all blocks of a pool have the
//             same bytes.
#ifndef KVSIM_ENGINES_VLLM_BLOCK_WORTH_H_
#define KVSIM_ENGINES_VLLM_BLOCK_WORTH_H_

#include <cstdint>
#include <vector>

#include "engines/vllm/retention.h"
#include "engines/vllm/settings.h"

namespace kvsim::vllm {

class BlockWorth {
 public:
  // REQUIRES: settings.Normalized() made them, EvictsByValue().
  explicit BlockWorth(const Settings& settings);

  struct Segment {
    int64_t end = 0;    // tokens: a boundary
    int64_t score = 0;  // of its blocks
  };

  // So many tokens more are scheduled.
  void Advance(int64_t tokens) { now_ += 1000 * tokens; }
  // The score of what is worth nothing.
  int64_t now() const { return now_; }
  // Of a block that ends at `end` tokens, deeper segments apart.
  int64_t At(int64_t end, int64_t num_prompt, int64_t junction) const;
  // Of all segments of a request whose first `keyed` tokens can have keys, in
  // order. O(segments).
  std::vector<Segment> Segments(int64_t keyed, int64_t num_prompt,
                                int64_t junction) const;

 private:
  int64_t Recompute(int64_t tokens) const;
  int64_t Worth(int64_t begin, int64_t end) const;

  const int64_t permille_, balance_;
  Boundaries boundaries_;
  std::vector<int64_t> full_blocks_;  // tokens per block of each full group
  int64_t tails_ = 0;                 // blocks at a segment's end
  int64_t now_ = 0;
};

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_BLOCK_WORTH_H_
