// `kvsim models`: the named catalogue.

#ifndef KVSIM_TOOLS_MODELS_COMMAND_H_
#define KVSIM_TOOLS_MODELS_COMMAND_H_

#include <CLI/CLI.hpp>

#include "tools/command.h"

namespace kvsim {

// Adds `kvsim models`.
void AddModelsCommand(CLI::App& app, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_MODELS_COMMAND_H_
