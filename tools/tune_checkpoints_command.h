// `kvsim tune checkpoints`: where to keep states of recurrent layers, and what for.
#ifndef KVSIM_TOOLS_TUNE_CHECKPOINTS_COMMAND_H_
#define KVSIM_TOOLS_TUNE_CHECKPOINTS_COMMAND_H_

#include <CLI/CLI.hpp>

#include "tools/command.h"

namespace kvsim {

// Adds `checkpoints` to `kvsim tune`.
void AddTuneCheckpointsCommand(CLI::App& tune, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_TUNE_CHECKPOINTS_COMMAND_H_
