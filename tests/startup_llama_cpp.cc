#include "tests/startup_llama_cpp.h"

#include <optional>
#include <string>
#include <utility>

#include "engines/llama_cpp/pool_planner.h"
#include "engines/llama_cpp/serve_arguments.h"
#include "engines/llama_cpp/serve_flag_table.h"
#include "engines/serve_flags.h"
#include "models/model_config.h"
#include "tests/startup_draft.h"

namespace kvsim {
namespace {

double MiBOf(Bytes bytes) {
  return static_cast<double>(bytes.value()) / 0x1p20;
}

// A cache's figures under the records' names: "kv_mib", "swa_kv_mib" ...
void AddCache(const CachePool* cache, const std::string& prefix,
              StartupFigures& figures) {
  if (cache == nullptr) return;
  auto& values = figures.values;
  values[prefix + "cells"] = static_cast<double>(cache->entries);
  values[prefix + (prefix.empty() ? "kv_layers" : "layers")] =
      static_cast<double>(cache->layers.size());
  values[prefix + "kv_mib"] = MiBOf(TotalBytes(*cache));
  values[prefix + "k_mib"] = MiBOf(PartBytes(*cache, "K"));
  values[prefix + "v_mib"] = MiBOf(PartBytes(*cache, "V"));
}

StartupFigures FiguresOf(const llama_cpp::CachePlan& plan) {
  StartupFigures figures;
  figures.refused = plan.pool.refused.has_value();
  figures.units = plan.cells;
  AddCache(FindPool(plan.pools, "kv"), "", figures);
  AddCache(FindPool(plan.pools, "swa"), "swa_", figures);
  AddCache(FindPool(plan.pools, "draft"), "draft_", figures);
  if (const CachePool* states = FindPool(plan.pools, "rs")) {
    figures.values["rs_mib"] = MiBOf(TotalBytes(*states));
    figures.values["rs_r_mib"] = MiBOf(PartBytes(*states, "R"));
    figures.values["rs_s_mib"] = MiBOf(PartBytes(*states, "S"));
  }
  return figures;
}

}  // namespace

absl::StatusOr<StartupFigures> PredictLlamaCppStartup(
    const StartupCase& startup, const StartupPool& pool) {
  const absl::StatusOr<ServeCommand> command =
      ReadServeCommand(llama_cpp::LlamaServeGrammar(), startup.args);
  if (!command.ok()) return command.status();
  const absl::StatusOr<llama_cpp::ServeArguments> arguments =
      llama_cpp::ReadServeArguments(*command);
  if (!arguments.ok()) return arguments.status();
  const absl::StatusOr<ModelSpec> model =
      ReadModelConfig(startup.config, "config");
  if (!model.ok()) return model.status();
  const absl::StatusOr<std::optional<ModelSpec>> draft = ReadDraft(startup);
  if (!draft.ok()) return draft.status();
  const absl::StatusOr<llama_cpp::CachePlan> plan =
      llama_cpp::PlanCaches(*model, draft->has_value() ? &**draft : nullptr,
                            arguments->settings, pool.memory);
  if (!plan.ok()) return plan.status();
  return FiguresOf(*plan);
}

}  // namespace kvsim
