// `kvsim trace synth`: a made-up workload (traces/synthetic_trace.h).
#ifndef KVSIM_TOOLS_SYNTH_COMMAND_H_
#define KVSIM_TOOLS_SYNTH_COMMAND_H_

#include <CLI/CLI.hpp>

#include "tools/command.h"

namespace kvsim {

// Adds `synth` to `trace`, the app of `kvsim trace`.
void AddSynthCommand(CLI::App& trace, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_SYNTH_COMMAND_H_
