// The flags that say what a timed trace calls its fields, as vLLM's benchmark
// spells them: --timed-trace-label-..., --timed-trace-chunk-hash-size,
// --timed-trace-sec-multiplier. Each implies its format.
#ifndef KVSIM_TOOLS_TIMED_TRACE_FLAGS_H_
#define KVSIM_TOOLS_TIMED_TRACE_FLAGS_H_

#include <CLI/CLI.hpp>
#include <string>

#include "absl/status/status.h"
#include "traces/trace_options.h"

namespace kvsim {

// Empty: vLLM's default.
struct TimedTraceFlags {
  std::string hash_size;
  std::string multiplier;
  std::string timestamp;
  std::string input_length;
  std::string output_length;
  std::string hash_ids;
};

// `flags` must outlive parsing.
void AddTimedTraceFlags(CLI::App& command, TimedTraceFlags& flags);

// Puts them, and the format they imply, into `options`. Wrong usage: an error
// that names the flag, the value and what is accepted, or another format.
absl::Status ApplyTimedTrace(const TimedTraceFlags& flags,
                             TraceOptions* options);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_TIMED_TRACE_FLAGS_H_
