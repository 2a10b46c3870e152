// Several replays on several threads.
#ifndef KVSIM_TOOLS_REPLAY_BATCH_H_
#define KVSIM_TOOLS_REPLAY_BATCH_H_

#include <vector>

#include "absl/status/statusor.h"
#include "sim/report.pb.h"
#include "tools/replay_flags.h"

namespace kvsim {

// The reports in the order of `runs`, which does not depend on the threads; one that
// cannot run is an error in its place. REQUIRES: jobs >= 1; CheckModes accepts all.
std::vector<absl::StatusOr<Report>> RunReplays(
    const std::vector<ReplayFlags>& runs, int jobs);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_REPLAY_BATCH_H_
