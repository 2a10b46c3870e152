// `kvsim replay --mode hits`: a prefix cache alone.

#ifndef KVSIM_TOOLS_REPLAY_HITS_H_
#define KVSIM_TOOLS_REPLAY_HITS_H_

#include "absl/status/status.h"
#include "tools/command.h"
#include "tools/replay_flags.h"

namespace kvsim {

// REQUIRES: CheckModes(flags).ok().
absl::Status ReplayHits(const ReplayFlags& flags,
                        const CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_REPLAY_HITS_H_
