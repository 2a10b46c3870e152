// `kvsim explain`: what happened to one request of a replay, and why.

#ifndef KVSIM_TOOLS_EXPLAIN_COMMAND_H_
#define KVSIM_TOOLS_EXPLAIN_COMMAND_H_

#include <CLI/CLI.hpp>

#include "tools/command.h"

namespace kvsim {

// Adds `kvsim explain`.
void AddExplainCommand(CLI::App& app, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_EXPLAIN_COMMAND_H_
