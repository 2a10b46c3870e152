// What each checkpoint policy keeps of a trace, and what that serves.
//
// Model:      the same replay once for every pair of a policy and a dtype of states.
//             A smaller state makes smaller pages, so the pool has more blocks of
//             fewer tokens. What no policy can beat is sim/reuse_bound.h, of the same
//             pool. Tokens that some request before had in front (whole blocks of 16)
//             and that were computed again are what a policy missed.
// Front:      the points for which no other keeps less and hits as much, or hits more
//             and keeps as little. Its knee is the point farthest above the straight
//             line between its ends, both figures scaled to [0, 1].
// Units:      tokens; bytes of one rank.
#ifndef KVSIM_TOOLS_CHECKPOINT_STUDY_H_
#define KVSIM_TOOLS_CHECKPOINT_STUDY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/report.pb.h"
#include "tools/replay_flags.h"

namespace kvsim {

struct CheckpointPoint {
  std::string policy;  // as typed; "engine": what the engine does
  std::string dtype;   // as typed; "": the model's
  absl::StatusOr<Report> report;
  int64_t bound_tokens = 0;  // hits that no policy exceeds in this pool
  bool on_front = false;
};

struct CheckpointStudy {
  std::vector<CheckpointPoint> points;
  int64_t prompt_tokens = 0;    // of all requests that the engine accepts
  int64_t reusable_tokens = 0;  // that some request before had in front
  int64_t longest_prompt = 0;
  std::optional<size_t>
      knee;              // its index; with three points on the front or more
  bool in_order = true;  // requests arrive in the order of the trace
};

// Replays the product of `policies` and `dtypes` (empty: the model's), `jobs` at once.
// Errors: the trace's; what is wrong with a policy; a model without recurrent layers.
absl::StatusOr<CheckpointStudy> StudyCheckpoints(
    const ReplayFlags& flags, const std::vector<std::string>& policies,
    const std::vector<std::string>& dtypes, int jobs);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_CHECKPOINT_STUDY_H_
