// What a replay makes of a trace's rows, for whoever reads the trace beside it.
#ifndef KVSIM_TOOLS_REPLAY_TOKENS_H_
#define KVSIM_TOOLS_REPLAY_TOKENS_H_

#include "tools/replay_flags.h"
#include "traces/token_stream.h"
#include "traces/trace_reader.h"

namespace kvsim {

inline TokenStreamOptions TokenOptionsOf(const ReplayTraceOptions& trace) {
  return {.partial_tail = trace.options.partial_tail,
          .continue_sessions = trace.options.continue_sessions};
}

// --arrivals; else turns of sessions start when the turn before has ended.
inline Arrivals ArrivalsOf(const ReplayTraceOptions& trace,
                           const TraceReader& reader) {
  return trace.arrivals.value_or(
      reader.has_sessions() ? Arrivals::kAfterPrevious : Arrivals::kTimestamps);
}

}  // namespace kvsim

#endif  // KVSIM_TOOLS_REPLAY_TOKENS_H_
