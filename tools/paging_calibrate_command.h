// `kvsim paging calibrate`: writes the table of costs for `kvsim replay --cost`.

#ifndef KVSIM_TOOLS_PAGING_CALIBRATE_COMMAND_H_
#define KVSIM_TOOLS_PAGING_CALIBRATE_COMMAND_H_

#include "tools/command.h"

namespace kvsim {

void AddPagingCalibrateCommand(CLI::App& paging, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_PAGING_CALIBRATE_COMMAND_H_
