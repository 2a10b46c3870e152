// The flags that say which rows of a trace are read.
//
//   --trace FILE         a file or a folder; the flag's name may be left out
//   --trace-format F     auto, or a format's name
//   --limit N            only the first N requests
//   --rate-scale X       X times the arrival rate: 2, 0.25, 3/2
//   --timed-trace-...    timed_trace_flags.h
#ifndef KVSIM_TOOLS_TRACE_FLAGS_H_
#define KVSIM_TOOLS_TRACE_FLAGS_H_

#include <CLI/CLI.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "tools/timed_trace_flags.h"
#include "traces/trace_options.h"

namespace kvsim {

struct TraceFlags {
  std::string trace;
  std::string format = "auto";
  std::string limit;  // empty: all
  std::string rate_scale = "1";

  TimedTraceFlags timed;
};

// `flags` must outlive parsing.
void AddTraceFlags(CLI::App& command, TraceFlags& flags);

// An error names the flag, the value and what is accepted.
absl::StatusOr<TraceOptions> ToTraceOptions(const TraceFlags& flags);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_TRACE_FLAGS_H_
