// `kvsim tune block-size`: every block size the engine takes, and what it costs.
#ifndef KVSIM_TOOLS_TUNE_BLOCK_SIZE_COMMAND_H_
#define KVSIM_TOOLS_TUNE_BLOCK_SIZE_COMMAND_H_

#include <CLI/CLI.hpp>

#include "tools/command.h"

namespace kvsim {

// Adds `block-size` to `kvsim tune`.
void AddTuneBlockSizeCommand(CLI::App& tune, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_TUNE_BLOCK_SIZE_COMMAND_H_
