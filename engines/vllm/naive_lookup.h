// The longest prefix that every cache group has, told plainly.
//
// Source:     the rules of vLLM (2026-08-17) as told beside its recorded runs;
//             not the code it is compared with.
#ifndef KVSIM_ENGINES_VLLM_NAIVE_LOOKUP_H_
#define KVSIM_ENGINES_VLLM_NAIVE_LOOKUP_H_

#include <cstdint>
#include <vector>

#include "engines/vllm/naive_pool.h"
#include "engines/vllm/naive_rules.h"

namespace kvsim::vllm {

struct NaiveHit {
  int64_t tokens = 0;
  int64_t junction = 0;
  std::vector<NaivePool::Ids> groups;  // null where nothing is needed
};

// Of the first `known` tokens at least one is left to compute. A test can ask for
// a mistake: of groups that are looked up together only the last has to match.
NaiveHit NaiveFind(const NaiveRules& rules, const NaivePool& pool,
                   const NaivePool::Tokens& tokens, int64_t known,
                   bool last_of_equals_only = false);

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_NAIVE_LOOKUP_H_
