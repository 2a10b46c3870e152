// The file that `kvsim trace convert` and `synth` write.
#ifndef KVSIM_TOOLS_TRACE_OUTPUT_H_
#define KVSIM_TOOLS_TRACE_OUTPUT_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/command.h"
#include "traces/trace_writer.h"

namespace kvsim {

struct TraceOutputFlags {
  std::string output;
  std::string to = "kvsim";
  bool compress = false;
};

// --output (also as the next word), --to, --zstd. `flags` must outlive parsing.
void AddTraceOutputFlags(CLI::App& command, TraceOutputFlags& flags);

// Opens the output, lets `write` fill it and returns what that gave: the number
// of rows. A regular file that could not be completed is removed. "-" is
// context.out. `input` is a file that must not be overwritten; empty: none.
absl::StatusOr<int64_t> WriteTrace(
    const TraceOutputFlags& flags, const std::string& input, bool has_sessions,
    bool keep_ids, CommandContext& context,
    const std::function<absl::StatusOr<int64_t>(TraceWriter&)>& write);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_TRACE_OUTPUT_H_
