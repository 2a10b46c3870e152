#include "tests/startup_tensorrt_llm.h"

#include "engines/serve_flags.h"
#include "engines/tensorrt_llm/pool_planner.h"
#include "engines/tensorrt_llm/serve_arguments.h"
#include "engines/tensorrt_llm/serve_flag_table.h"
#include "models/model_config.h"

namespace kvsim {

absl::StatusOr<StartupFigures> PredictTensorrtLlmStartup(
    const StartupCase& startup, const StartupPool& pool) {
  const absl::StatusOr<ServeCommand> command =
      ReadServeCommand(tensorrt_llm::TrtllmServeGrammar(), startup.args);
  if (!command.ok()) return command.status();
  const absl::StatusOr<tensorrt_llm::ServeArguments> arguments =
      tensorrt_llm::ReadServeArguments(*command);
  if (!arguments.ok()) return arguments.status();
  const absl::StatusOr<ModelSpec> model =
      ReadModelConfig(startup.config, "config");
  if (!model.ok()) return model.status();
  tensorrt_llm::PoolMemory memory;
  memory.num_blocks = GivenFigure(startup, "num_blocks");
  memory.max_tokens = GivenFigure(startup, "max_tokens");
  if (!memory.num_blocks && !memory.max_tokens) {
    memory.num_blocks = pool.units;
    if (!pool.units) memory.free = pool.memory;
  }
  const absl::StatusOr<tensorrt_llm::BlockPlan> plan =
      tensorrt_llm::PlanBlocks(*model, arguments->settings, memory);
  if (!plan.ok()) return plan.status();
  StartupFigures figures;
  figures.refused = plan->pool.refused.has_value();
  figures.units = plan->num_blocks;
  figures.values["num_blocks"] = static_cast<double>(plan->num_blocks);
  figures.values["max_tokens"] = static_cast<double>(plan->max_tokens);
  figures.values["alloc_gib"] =
      static_cast<double>(TotalBytes(plan->pools).value()) / 0x1p30;
  return figures;
}

}  // namespace kvsim
