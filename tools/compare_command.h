// `kvsim compare`: two plans side by side, every difference with its cause.

#ifndef KVSIM_TOOLS_COMPARE_COMMAND_H_
#define KVSIM_TOOLS_COMPARE_COMMAND_H_

#include <CLI/CLI.hpp>

#include "tools/command.h"

namespace kvsim {

// Adds `kvsim compare A B`.
void AddCompareCommand(CLI::App& app, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_COMPARE_COMMAND_H_
