// Which blocks of a window or recurrent group get a key.
//
// Model:      a later request can use such a group only where it ends a hit: a tail
//             of ceil((window − 1) / block) blocks, or one state. Keeping a tail at
//             every boundary (dense) costs as much as keeping everything; the
//             retention interval says at which boundaries one is kept: none given:
//             all of them; 0: only at the prompt's last one and at the junction;
//             r: at every multiple of r as well. Other blocks get no key, so they
//             are the first to be used again.
// Units:      tokens; boundaries are multiples of the scheduler's unit.
// Source:     single_type_kv_cache_manager.py, the reachable mask of 2026-06-02 and
//             the retention default of 2026-08-17.
#ifndef KVSIM_ENGINES_VLLM_RETENTION_H_
#define KVSIM_ENGINES_VLLM_RETENTION_H_

#include <cstdint>
#include <optional>

namespace kvsim::vllm {

struct Retention {
  std::optional<int64_t> interval;  // nothing: dense
  int64_t unit = 1;                 // boundaries are multiples of it
  int64_t block = 1;                // tokens per block of the group
  int64_t tail = 1;    // blocks that end at a boundary and are kept
  int64_t margin = 0;  // blocks behind a boundary kept with it

  // The first block from `index` on that gets a key when a prompt of num_prompt
  // tokens has this junction (0: none); INT64_MAX when there is none. O(1).
  int64_t NextKept(int64_t index, int64_t num_prompt, int64_t junction) const;

 private:
  int64_t NextInTail(int64_t index, int64_t boundary) const;
};

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_RETENTION_H_
