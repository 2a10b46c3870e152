// `kvsim trace stats`: lengths, arrivals, reuse, the prefix tree, sessions and
// what another block size would hit.
#ifndef KVSIM_TOOLS_STATS_COMMAND_H_
#define KVSIM_TOOLS_STATS_COMMAND_H_

#include <CLI/CLI.hpp>

#include "tools/command.h"

namespace kvsim {

// Adds `stats` to `kvsim trace`.
void AddStatsCommand(CLI::App& trace, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_STATS_COMMAND_H_
