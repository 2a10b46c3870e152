// `kvsim fit-steps`: the coefficients of --timing linear from measured steps.

#ifndef KVSIM_TOOLS_FIT_STEPS_COMMAND_H_
#define KVSIM_TOOLS_FIT_STEPS_COMMAND_H_

#include "tools/command.h"

namespace kvsim {

void AddFitStepsCommand(CLI::App& app, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_FIT_STEPS_COMMAND_H_
