// `kvsim trace`: look at traces, check them, convert them, make them up.
#ifndef KVSIM_TOOLS_TRACE_COMMAND_H_
#define KVSIM_TOOLS_TRACE_COMMAND_H_

#include <CLI/CLI.hpp>

#include "tools/command.h"

namespace kvsim {

// Adds `kvsim trace` with info, validate, convert, head, stats,
// anonymise, fit and synth.
void AddTraceCommand(CLI::App& app, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_TRACE_COMMAND_H_
