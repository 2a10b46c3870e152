// `kvsim paging bench`: measures operations over page sizes, layers, formats and batches.

#ifndef KVSIM_TOOLS_PAGING_BENCH_COMMAND_H_
#define KVSIM_TOOLS_PAGING_BENCH_COMMAND_H_

#include "tools/command.h"

namespace kvsim {

void AddPagingBenchCommand(CLI::App& paging, CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_PAGING_BENCH_COMMAND_H_
