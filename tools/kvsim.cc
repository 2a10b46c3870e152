#include "tools/kvsim.h"

#include "tools/capacity_command.h"
#include "tools/command_line.h"
#include "tools/compare_command.h"
#include "tools/compare_metrics_command.h"
#include "tools/completion_command.h"
#include "tools/explain_command.h"
#include "tools/fit_steps_command.h"
#include "tools/layout_command.h"
#include "tools/limit_command.h"
#include "tools/models_command.h"
#include "tools/mrc_command.h"
#include "tools/paging_command.h"
#include "tools/replay_command.h"
#include "tools/sweep_command.h"
#include "tools/trace_command.h"
#include "tools/tune_command.h"

namespace kvsim {
namespace {

// In the order `kvsim --help` lists them: one line per subcommand.
constexpr Subcommand kCommands[] = {
    {"layout", AddLayoutCommand},
    {"capacity", AddCapacityCommand},
    {"compare", AddCompareCommand},
    {"replay", AddReplayCommand},
    {"explain", AddExplainCommand},
    {"sweep", AddSweepCommand},
    {"limit", AddLimitCommand},
    {"mrc", AddMrcCommand},
    {"tune", AddTuneCommand},
    {"paging", AddPagingCommand},
    {"compare-metrics", AddCompareMetricsCommand},
    {"fit-steps", AddFitStepsCommand},
    {"trace", AddTraceCommand},
    {"models", AddModelsCommand},
    {"completion", AddCompletionCommand, /*reads_others=*/true},
};

}  // namespace

int RunKvsim(const std::vector<std::string>& arguments, std::ostream& out,
             std::ostream& err, const std::string& commit) {
  CommandContext context;
  context.out = &out;
  context.err = &err;
  context.commit = commit;
  return RunCommandLine(kCommands, arguments, context);
}

}  // namespace kvsim
