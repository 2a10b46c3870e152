// `kvsim replay --mode hits`: a prefix cache alone; and the trace as it sees it.

#ifndef KVSIM_TOOLS_REPLAY_HITS_H_
#define KVSIM_TOOLS_REPLAY_HITS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/units.h"
#include "sim/hits.h"
#include "tools/command.h"
#include "tools/flag_reader.h"
#include "tools/replay_flags.h"
#include "traces/trace_options.h"
#include "traces/trace_reader.h"

namespace kvsim {

// The whole trace in blocks. Wrong usage: a shared partial tail together with
// continued sessions.
absl::StatusOr<HitTrace> ReadHitTrace(TraceReader* reader,
                                      const TraceOptions& options,
                                      Tokens block_size);

// --block-size and --measure-last. A value that is not given stays as it is.
void ReadHitScope(const ReplayFlags& flags, FlagReader* reader,
                  Tokens* block_size, double* measured_share);

// REQUIRES: CheckModes(flags).ok().
absl::Status ReplayHits(const ReplayFlags& flags,
                        const CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_REPLAY_HITS_H_
