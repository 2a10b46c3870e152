// From the flags of `kvsim replay` to the cost model of --timing.

#ifndef KVSIM_TOOLS_REPLAY_COST_H_
#define KVSIM_TOOLS_REPLAY_COST_H_

#include <memory>

#include "absl/status/statusor.h"
#include "sim/cost_model.h"
#include "sim/roofline_fits.h"
#include "tools/replay_flags.h"
#include "tools/replay_setup.h"

namespace kvsim {

// The fit that --timing roofline uses; null under any other timing.
// Errors: an unknown --roofline-engine.
absl::StatusOr<const RooflineFit*> RooflineFitOf(const ReplayFlags& flags);

// A fresh one for every run: a recorded one remembers how far it is.
absl::StatusOr<std::unique_ptr<CostModel>> MakeCostModel(
    const ReplayFlags& flags, const ReplaySetup& setup);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_REPLAY_COST_H_
