// One run of an engine over a trace, as the flags of `kvsim replay` describe it.
//
// Whoever asks many such questions (`kvsim sweep`, `kvsim limit`) changes the
// flags and calls it again.
// Threads:    runs share nothing; any number at once, with one RunWatch at most.

#ifndef KVSIM_TOOLS_REPLAY_RUN_H_
#define KVSIM_TOOLS_REPLAY_RUN_H_

#include "absl/status/statusor.h"
#include "engines/cache_listener.h"
#include "sim/report.h"
#include "sim/step_observer.h"
#include "tools/replay_flags.h"
#include "tools/run_listener.h"

namespace kvsim {

// The report without version, command line and fingerprint of the trace. Writes
// the files that the flags name. `listener` follows this run and the one that a
// --baseline repeats, `observer` and `cache_listener` this run only; all may be
// null.
// REQUIRES: CheckModes(flags).ok() and flags.mode is "engine".
absl::StatusOr<Report> RunReplay(const ReplayFlags& flags,
                                 RunListener* listener,
                                 StepObserver* observer = nullptr,
                                 CacheListener* cache_listener = nullptr);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_REPLAY_RUN_H_
