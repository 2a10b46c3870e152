// `kvsim limit`: how far one setting can be taken before service suffers.

#ifndef KVSIM_TOOLS_LIMIT_COMMAND_H_
#define KVSIM_TOOLS_LIMIT_COMMAND_H_

#include <CLI/CLI.hpp>

#include "tools/command.h"

namespace kvsim {

// Adds `kvsim limit`.
void AddLimitCommand(CLI::App& app, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_LIMIT_COMMAND_H_
