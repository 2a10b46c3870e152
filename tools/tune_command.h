// `kvsim tune`: settings of an engine compared with each other.
#ifndef KVSIM_TOOLS_TUNE_COMMAND_H_
#define KVSIM_TOOLS_TUNE_COMMAND_H_

#include <CLI/CLI.hpp>

#include "tools/command.h"

namespace kvsim {

// Adds `kvsim tune` with block-size.
void AddTuneCommand(CLI::App& app, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_TUNE_COMMAND_H_
