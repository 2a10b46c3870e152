// `kvsim sweep`: a replay for every combination of settings, on all cores.

#ifndef KVSIM_TOOLS_SWEEP_COMMAND_H_
#define KVSIM_TOOLS_SWEEP_COMMAND_H_

#include <CLI/CLI.hpp>

#include "tools/command.h"

namespace kvsim {

// Adds `kvsim sweep`.
void AddSweepCommand(CLI::App& app, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_SWEEP_COMMAND_H_
