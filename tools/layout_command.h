// `kvsim layout`: what each layer of a model stores, and how much at a length.

#ifndef KVSIM_TOOLS_LAYOUT_COMMAND_H_
#define KVSIM_TOOLS_LAYOUT_COMMAND_H_

#include <CLI/CLI.hpp>

#include "tools/command.h"

namespace kvsim {

// Adds `kvsim layout`.
void AddLayoutCommand(CLI::App& app, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_LAYOUT_COMMAND_H_
