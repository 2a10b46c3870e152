// `kvsim trace anonymise`: a trace that may be shared.
#ifndef KVSIM_TOOLS_ANONYMISE_COMMAND_H_
#define KVSIM_TOOLS_ANONYMISE_COMMAND_H_

#include <CLI/CLI.hpp>

#include "tools/command.h"

namespace kvsim {

// Adds `anonymise` to `kvsim trace`.
void AddAnonymiseCommand(CLI::App& trace, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_ANONYMISE_COMMAND_H_
