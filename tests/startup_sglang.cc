#include "tests/startup_sglang.h"

#include <optional>
#include <string>
#include <utility>

#include "engines/serve_flags.h"
#include "engines/sglang/pool_planner.h"
#include "engines/sglang/serve_arguments.h"
#include "engines/sglang/serve_flag_table.h"
#include "models/model_config.h"
#include "tests/startup_draft.h"

namespace kvsim {
namespace {

double GiBOf(Bytes bytes) {
  return static_cast<double>(bytes.value()) / 0x1p30;
}

// A pool's parts under the records' names; `prefix` "" or "draft_".
void AddRows(const CachePool* pool, const std::string& prefix,
             StartupFigures& figures) {
  if (pool == nullptr) return;
  if (PartBytes(*pool, "KV") > Bytes(0)) {
    figures.values[prefix + "kv_size_gb"] = GiBOf(TotalBytes(*pool));
    return;
  }
  figures.values[prefix + "k_size_gb"] = GiBOf(PartBytes(*pool, "K"));
  figures.values[prefix + "v_size_gb"] = GiBOf(PartBytes(*pool, "V"));
}

StartupFigures FiguresOf(const sglang::SglangPlan& plan) {
  StartupFigures figures;
  auto& values = figures.values;
  figures.refused = plan.pool.refused.has_value();
  figures.units = plan.max_total_tokens;
  values["max_total_tokens"] = static_cast<double>(plan.max_total_tokens);
  AddRows(FindPool(plan.pools, "full"), "", figures);
  AddRows(FindPool(plan.pools, "draft"), "draft_", figures);
  if (const CachePool* states = FindPool(plan.pools, "state")) {
    values["mamba_slots"] = static_cast<double>(plan.mamba_slots);
    values["conv_state_gb"] = GiBOf(PartBytes(*states, "conv"));
    values["ssm_state_gb"] = GiBOf(PartBytes(*states, "ssm"));
  }
  return figures;
}

}  // namespace

absl::StatusOr<StartupFigures> PredictSglangStartup(const StartupCase& startup,
                                                    const StartupPool& pool) {
  const absl::StatusOr<ServeCommand> command =
      ReadServeCommand(sglang::SglangServeGrammar(), startup.args);
  if (!command.ok()) return command.status();
  const absl::StatusOr<sglang::ServeArguments> arguments =
      sglang::ReadServeArguments(*command);
  if (!arguments.ok()) return arguments.status();
  const absl::StatusOr<ModelSpec> model =
      ReadModelConfig(startup.config, "config", arguments->model_overrides);
  if (!model.ok()) return model.status();
  const absl::StatusOr<std::optional<ModelSpec>> draft = ReadDraft(startup);
  if (!draft.ok()) return draft.status();
  sglang::PoolMemory memory;
  if (pool.memory.has_value()) memory.rest = {*pool.memory};
  memory.max_total_tokens = GivenFigure(startup, "max_total_tokens");
  memory.mamba_slots = GivenFigure(startup, "mamba_slots");
  const absl::StatusOr<sglang::SglangPlan> plan =
      sglang::PlanPools(*model, draft->has_value() ? &**draft : nullptr,
                        arguments->settings, memory);
  if (!plan.ok()) return plan.status();
  return FiguresOf(*plan);
}

}  // namespace kvsim
