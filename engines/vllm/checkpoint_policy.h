// Where states and window tails are kept for later hits, when kvsim decides
// instead of the engine.
//
// Model:      a hit of a model with windows or states can only end at a boundary
//             whose tails and states were kept. A policy is a set of boundaries,
//             the union of its parts, and an order in which cached blocks go:
//               none            no boundary: only live states
//               dense           every block
//               every:C         C, 2C, 3C, …
//               geometric:C     C, 2C, 4C, 8C, …
//               prompt-end      the prompt's last whole block, one token before
//                               its end at the latest
//               branch-points   where the prompts seen so far were found to part
//                               (what some groups have cached and others not)
//               value:A         cached blocks go in the order of last use plus A
//                               times the recompute that they save per byte
//                               (engines/vllm/block_worth.h); alone it keeps
//                               prompt ends and branch points
//             Boundaries are rounded down to whole blocks. A chunk of a prompt ends
//             at each boundary, since a state exists only where a chunk ends.
//             vLLM's own rule (engines/vllm/retention.h) is, at most,
//             every:R+prompt-end+branch-points, without ends of chunks at R.
// Units:      tokens.
// Source:     the parts are kvsim's; branch points and value are the ideas of
//             Marconi (Pan et al., MLSys 2025).
#ifndef KVSIM_ENGINES_VLLM_CHECKPOINT_POLICY_H_
#define KVSIM_ENGINES_VLLM_CHECKPOINT_POLICY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kvsim::vllm {

// Boundaries that depend on the position alone.
struct CheckpointSpacing {
  int64_t every = 0;      // its multiples; 0: none
  int64_t geometric = 0;  // it times powers of two; 0: none
  int64_t unit = 1;       // all rounded down to multiples of it

  // The first boundary at or behind `least` tokens; INT64_MAX: none. O(1), or
  // O(log tokens) when geometric.
  int64_t Next(int64_t least) const;
  // The last one before `boundary`, which is a multiple of the unit; 0: none.
  int64_t Previous(int64_t boundary) const;

 private:
  int64_t NextMultiple(int64_t least) const;
  int64_t NextPower(int64_t least) const;
};

struct CheckpointPolicy {
  bool dense = false;
  int64_t every = 0;
  int64_t geometric = 0;
  bool prompt_end = false;
  bool branch_points = false;
  // Tokens of recency that a token saved per block weighs, in thousandths;
  // nothing: cached blocks go least recently used first.
  std::optional<int64_t> value_permille;

  // `unit`: whole blocks of all groups.
  CheckpointSpacing Spacing(int64_t unit) const;
  // As ParseCheckpointPolicy reads it.
  std::string InWords() const;

  friend bool operator==(const CheckpointPolicy&,
                         const CheckpointPolicy&) = default;
};

// "every:4096", "prompt-end+branch-points", "value:0.5", … Errors: InvalidArgument
// says what is accepted.
absl::StatusOr<CheckpointPolicy> ParseCheckpointPolicy(absl::string_view text);

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_CHECKPOINT_POLICY_H_
