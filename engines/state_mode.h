// How the states of a recurrent layer are kept for prefix hits.

#ifndef KVSIM_ENGINES_STATE_MODE_H_
#define KVSIM_ENGINES_STATE_MODE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kvsim {

enum class StateMode {
  kNone,   // one running state per sequence
  kAlign,  // the running state, checkpointed on block boundaries
  kAll,    // one state per block
};

// "none", "align", "all": --mamba-cache-mode's spelling.
const char* StateModeName(StateMode mode);
// InvalidArgument says what is accepted.
absl::StatusOr<StateMode> ParseStateMode(absl::string_view text);

}  // namespace kvsim

#endif  // KVSIM_ENGINES_STATE_MODE_H_
