// `kvsim compare-metrics`: a live server's figures beside the replay's.

#ifndef KVSIM_TOOLS_COMPARE_METRICS_COMMAND_H_
#define KVSIM_TOOLS_COMPARE_METRICS_COMMAND_H_

#include <CLI/CLI.hpp>

#include "tools/command.h"

namespace kvsim {

// Adds `kvsim compare-metrics`.
void AddCompareMetricsCommand(CLI::App& app, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_COMPARE_METRICS_COMMAND_H_
