// Which blocks of a window or recurrent group get a key.
//
// Model:      a later request can use such a group only where it ends a hit: a tail
//             of ceil((window − 1) / block) blocks, or one state. Keeping a tail at
//             every boundary (dense) costs as much as keeping everything; the
//             policy says at which boundaries one is kept. Other blocks get no key,
//             so they are the first to be used again. vLLM's retention interval as
//             a policy: none given: dense; r: the prompt's last boundary, the
//             junction and every multiple of r, none when r is 0.
// Units:      tokens; boundaries are multiples of the scheduler's unit.
// Source:     single_type_kv_cache_manager.py, the reachable mask of 2026-06-02 and
//             the retention default of 2026-08-17.
#ifndef KVSIM_ENGINES_VLLM_RETENTION_H_
#define KVSIM_ENGINES_VLLM_RETENTION_H_

#include <cstdint>
#include <optional>

#include "engines/vllm/checkpoint_policy.h"

namespace kvsim::vllm {

// vLLM's rule. `interval` is a multiple of the scheduler's unit.
CheckpointPolicy PolicyOfInterval(std::optional<int64_t> interval);

// Where a request keeps tails and states.
struct Boundaries {
  CheckpointSpacing spacing;  // spacing.unit is the scheduler's
  bool prompt_end = false;
  bool branch_points = false;

  static Boundaries Of(const CheckpointPolicy& policy, int64_t unit);
  // The first one at or behind `least`; INT64_MAX: none.
  int64_t Next(int64_t least, int64_t num_prompt, int64_t junction) const;
  // The last one before `boundary`, which is one itself; 0: none.
  int64_t Previous(int64_t boundary, int64_t num_prompt,
                   int64_t junction) const;
};

struct Retention {
  Boundaries boundaries;
  int64_t block = 1;   // tokens per block of the group
  int64_t tail = 1;    // blocks that end at a boundary and are kept
  int64_t margin = 0;  // blocks behind a boundary kept with it

  // The first block from `index` on that gets a key when a prompt of num_prompt
  // tokens has this junction (0: none); INT64_MAX when there is none.
  int64_t NextKept(int64_t index, int64_t num_prompt, int64_t junction) const;
};

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_RETENTION_H_
