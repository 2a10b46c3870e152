// What a row of a replayed trace becomes: --samples, --beam-width, --sharing.

#ifndef KVSIM_TOOLS_REPLAY_SEQUENCES_H_
#define KVSIM_TOOLS_REPLAY_SEQUENCES_H_

#include "absl/status/statusor.h"
#include "sim/sequences.h"
#include "tools/replay_flags.h"

namespace kvsim {

// Errors: InvalidArgument names flag, value and what is accepted.
absl::StatusOr<Sequences> SequencesOf(const ReplayFlags& flags);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_REPLAY_SEQUENCES_H_
