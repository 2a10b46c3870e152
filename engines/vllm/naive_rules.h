// What the cache groups of a model have to do with each other, told plainly.
//
// Source:     the rules of vLLM (2026-08-17) as told beside its recorded runs;
//             not the code it is compared with.
#ifndef KVSIM_ENGINES_VLLM_NAIVE_RULES_H_
#define KVSIM_ENGINES_VLLM_NAIVE_RULES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engines/vllm/settings.h"

namespace kvsim::vllm {

struct NaiveRules {
  // Groups that are looked up together: of one kind, block size and reach.
  using Joint = std::vector<size_t>;

  // REQUIRES: settings.Normalized() made them.
  explicit NaiveRules(const Settings& settings);

  // Tokens at the front that the token behind `computed` ones does not read.
  int64_t Skipped(size_t group, int64_t computed) const;
  // Blocks that a later hit needs in front of its end.
  int64_t TailBlocks(size_t group) const;
  // Whether the block [index·B, (index + 1)·B) gets a key once it is full.
  bool Keeps(size_t group, int64_t index, int64_t num_prompt,
             int64_t junction) const;
  // Whether tails and states are kept at `b` tokens, a multiple of the scheduler's
  // unit.
  bool IsBoundary(int64_t b, int64_t num_prompt, int64_t junction) const;
  // By value: whether a hit can end there.
  bool EndsSegment(int64_t b, int64_t num_prompt, int64_t junction) const;
  // Thousandths of a token that a block ending at `end` is worth beyond the time of
  // its use; 0 when no hit can end behind it.
  int64_t Worth(int64_t end, int64_t num_prompt, int64_t junction) const;
  // Of `known` tokens those whose full blocks get keys.
  int64_t KeyedTokens(size_t group, int64_t known) const;
  bool Aligned(size_t group) const;  // recurrent, in align mode

  const Settings settings;
  int64_t hash_unit = 0;       // tokens per key of a chain
  int64_t scheduler_unit = 0;  // least common multiple of the blocks
  int64_t hit_unit = 0;        // hits are multiples of it
  bool fine = false;           // hits may end inside blocks
  std::vector<Joint> joint;    // full attention first
};

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_NAIVE_RULES_H_
