// `kvsim mrc`: what a prefix cache of every size would hit, in one pass.

#ifndef KVSIM_TOOLS_MRC_COMMAND_H_
#define KVSIM_TOOLS_MRC_COMMAND_H_

#include <CLI/CLI.hpp>

#include "tools/command.h"

namespace kvsim {

// Adds `kvsim mrc`.
void AddMrcCommand(CLI::App& app, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_MRC_COMMAND_H_
