// `kvsim replay`: a trace through an engine, and what became of it.

#ifndef KVSIM_TOOLS_REPLAY_COMMAND_H_
#define KVSIM_TOOLS_REPLAY_COMMAND_H_

#include <CLI/CLI.hpp>

#include "tools/command.h"

namespace kvsim {

// Adds `kvsim replay`.
void AddReplayCommand(CLI::App& app, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_REPLAY_COMMAND_H_
