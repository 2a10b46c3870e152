// `kvsim capacity`: how many requests of a length fit, before renting a GPU.

#ifndef KVSIM_TOOLS_CAPACITY_COMMAND_H_
#define KVSIM_TOOLS_CAPACITY_COMMAND_H_

#include <CLI/CLI.hpp>

#include "tools/command.h"

namespace kvsim {

// Adds `kvsim capacity`. Flags are spelled as the engine spells them where it
// has them. A start that the engine would refuse is a result: exit code 0.
void AddCapacityCommand(CLI::App& app, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_CAPACITY_COMMAND_H_
