// Computes the missing points of a sweep on several threads.
//
// Model:      workers take the next point that the store lacks, each replays it
//             from its own copy of the flags; results enter the store as they
//             come. A point that cannot be replayed (an engine that refuses to
//             start) is a row with an error, not the end of the sweep.
// Determinism: a row depends on its point alone, never on the threads.

#ifndef KVSIM_TOOLS_SWEEP_RUN_H_
#define KVSIM_TOOLS_SWEEP_RUN_H_

#include <functional>

#include "absl/status/status.h"
#include "tools/replay_flags.h"
#include "tools/sweep_grid.h"
#include "tools/sweep_store.h"

namespace kvsim {

// `progress` is called after each point, one call at a time. An error is the
// store's. REQUIRES: jobs >= 1.
absl::Status RunSweep(const SweepGrid& grid, const ReplayFlags& flags, int jobs,
                      const std::function<void()>& progress, SweepStore* store);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_SWEEP_RUN_H_
