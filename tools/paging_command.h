// `kvsim paging`: the page operations measured on this machine.

#ifndef KVSIM_TOOLS_PAGING_COMMAND_H_
#define KVSIM_TOOLS_PAGING_COMMAND_H_

#include "tools/command.h"

namespace kvsim {

void AddPagingCommand(CLI::App& app, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_PAGING_COMMAND_H_
