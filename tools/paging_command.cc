#include "tools/paging_command.h"

#include "tools/paging_bench_command.h"
#include "tools/paging_calibrate_command.h"

namespace kvsim {

void AddPagingCommand(CLI::App& app, CommandContext& context) {
  CLI::App* paging = app.add_subcommand(
      "paging", "Measure page operations on this machine's memory or GPU.");
  paging->require_subcommand(1);
  AddPagingBenchCommand(*paging, context);
  AddPagingCalibrateCommand(*paging, context);
}

}  // namespace kvsim
