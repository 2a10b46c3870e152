// `kvsim completion`: a script that teaches bash or zsh kvsim's words.

#ifndef KVSIM_TOOLS_COMPLETION_COMMAND_H_
#define KVSIM_TOOLS_COMPLETION_COMMAND_H_

#include <CLI/CLI.hpp>

#include "tools/command.h"

namespace kvsim {

// Adds `kvsim completion`. The script knows the commands that `app` has when it
// is printed.
void AddCompletionCommand(CLI::App& app, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_COMPLETION_COMMAND_H_
