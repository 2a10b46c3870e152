// `kvsim trace fit`: a preset for `kvsim trace synth` from a trace.
#ifndef KVSIM_TOOLS_FIT_COMMAND_H_
#define KVSIM_TOOLS_FIT_COMMAND_H_

#include <CLI/CLI.hpp>

#include "tools/command.h"

namespace kvsim {

// Adds `fit` to `kvsim trace`.
void AddFitCommand(CLI::App& trace, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_FIT_COMMAND_H_
