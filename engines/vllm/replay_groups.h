// The cache groups of a pool plan as the cache manager takes them.
//
// Model:      the plan says how many bytes of a block are rows or states, and how
//             many blocks a length takes; this says what rule a group follows.
//             Tables without rows (an index's unfinished group) are a block held for
//             as long as its request and never hit, like one token of an encoder.
// Units:      bytes of one rank; a group's block_tokens span all context-parallel
//             ranks. Row bytes are whole: what a block's rows leave over when they do
//             not divide by its tokens (less than a byte a token) counts as page
//             padding.
// Errors:     Unimplemented names the kind of a group that is not replayed.
#ifndef KVSIM_ENGINES_VLLM_REPLAY_GROUPS_H_
#define KVSIM_ENGINES_VLLM_REPLAY_GROUPS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "engines/pool_plan.h"
#include "engines/vllm/cache_group.h"

namespace kvsim::vllm {

// One for each group of the plan, in its order; all have blocks of
// plan.bytes_per_block bytes.
absl::StatusOr<std::vector<CacheGroup>> ReplayGroups(const PoolPlan& plan);

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_REPLAY_GROUPS_H_
