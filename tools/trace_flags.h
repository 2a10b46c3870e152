// The flags that say how a trace is read, shared by `kvsim trace` and
// `kvsim replay`.
//
//   --trace FILE         a file or a folder
//   --trace-format F     auto, mooncake, weka, kvsim
//   --limit N            only the first N requests
//   --rate-scale X       X times the arrival rate: 2, 0.25, 3/2
// and, where requests are replayed,
//   --arrivals A         timestamps or after-previous
//   --continue-sessions  a turn repeats its predecessor's output
//   --partial-tail T     unique or shared
#ifndef KVSIM_TOOLS_TRACE_FLAGS_H_
#define KVSIM_TOOLS_TRACE_FLAGS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "traces/trace_options.h"

namespace kvsim {

struct TraceFlags {
  std::string trace;
  std::string format = "auto";
  std::string limit;  // empty: all
  std::string rate_scale = "1";
  std::string arrivals = "after-previous";
  std::string partial_tail = "unique";
  bool continue_sessions = false;
};

// --trace (also without its name, as the first word) and the flags that decide
// which rows are read. `flags` must outlive parsing.
void AddTraceInputFlags(CLI::App& command, TraceFlags& flags);

// The flags that decide how rows are replayed.
void AddTraceReplayFlags(CLI::App& command, TraceFlags& flags);

// An error names the flag, the value and what is accepted.
absl::StatusOr<TraceOptions> ToTraceOptions(const TraceFlags& flags);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_TRACE_FLAGS_H_
