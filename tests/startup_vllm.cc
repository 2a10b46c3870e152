#include "tests/startup_vllm.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engines/capacity.h"
#include "engines/capacity_question.h"
#include "engines/serve_flags.h"
#include "engines/served_model.h"
#include "engines/vllm/serve_arguments.h"
#include "engines/vllm/serve_flag_table.h"
#include "models/model_config.h"
#include "tests/startup_draft.h"

namespace kvsim {
namespace {

// The last day on which the old token line was seen.
constexpr char kLastOldTokenLine[] = "2026-04-21";

absl::StatusOr<Platform> PlatformOf(const std::string& name) {
  if (name == "cuda") return Platform::kCuda;
  if (name == "rocm") return Platform::kRocm;
  if (name == "xpu") return Platform::kXpu;
  if (name == "ascend") return Platform::kAscend;
  if (name == "tpu") return Platform::kTpu;
  return absl::UnimplementedError(absl::StrCat("platform ", name));
}

// What a record says of its version beside the number.
void SetVersion(const StartupCase& startup, CapacityQuestion& question) {
  question.engine_version = startup.engine_version;
  // A line that newer versions no longer print dates an unknown version.
  if (startup.engine_version.empty() && startup.token_line == "blocks") {
    question.engine_version = kLastOldTokenLine;
  }
  question.previous_engine = startup.vllm_v0;
  const auto set = [&](absl::string_view name, const std::string& value) {
    if (!value.empty()) {
      question.engine_switches.push_back(absl::StrCat(name, "=", value));
    }
  };
  set("token-line", startup.token_line);
  set("compressed-pool", startup.v4_layout);
  if (startup.in_flight_batches > 0) {
    set("batches-in-flight", absl::StrCat(startup.in_flight_batches));
  }
}

// A pool of unknown rows: its token line and its concurrency hang together.
StartupFigures FromTokens(double tokens, Tokens max_model_len) {
  StartupFigures figures;
  figures.values["kv_cache_tokens"] = tokens;
  figures.values["max_concurrency"] =
      tokens / static_cast<double>(max_model_len.value());
  return figures;
}

StartupFigures FiguresOf(const PoolPlan& plan) {
  StartupFigures figures;
  figures.units = plan.num_blocks.value();
  auto& values = figures.values;
  values["num_gpu_blocks"] = static_cast<double>(plan.num_blocks.value());
  values["num_cpu_blocks"] = static_cast<double>(plan.host_blocks.value());
  values["kv_cache_tokens"] = static_cast<double>(plan.kv_cache_tokens.value());
  values["max_concurrency"] = plan.max_concurrency;
  values["block_size"] = static_cast<double>(plan.block_tokens.value());
  if (plan.state_padding_percent > 0) {
    values["mamba_page_padding_pct"] = plan.state_padding_percent;
  }
  if (!plan.layer_padding.empty()) {
    values["padding_layers"] =
        static_cast<double>(plan.layer_padding[0].layers);
    values["padding_layers_waste_pct"] = plan.layer_padding[0].waste_percent;
  }
  if (plan.refused.has_value()) {
    figures.refused = true;
    values["needed_gib"] =
        static_cast<double>(plan.refused->needed.value()) / 0x1p30;
    values["estimated_max_len"] =
        static_cast<double>(plan.refused->max_len_that_fits.value());
  }
  return figures;
}

void SetPool(const StartupCase& startup, const StartupPool& pool,
             CapacityQuestion& question) {
  if (const auto block = GivenFigure(startup, "block_size")) {
    question.block_size = Tokens(*block);
  }
  if (const auto blocks = GivenFigure(startup, "num_gpu_blocks")) {
    question.num_gpu_blocks = Blocks(*blocks);
  } else if (pool.units.has_value()) {
    question.num_gpu_blocks = Blocks(*pool.units);
  } else if (!question.kv_memory.has_value()) {
    question.kv_memory = pool.memory;
  }
}

}  // namespace

absl::StatusOr<StartupFigures> PredictVllmStartup(const StartupCase& startup,
                                                  const StartupPool& pool) {
  const absl::StatusOr<ServeCommand> command =
      ReadServeCommand(vllm::VllmServeGrammar(), startup.args);
  if (!command.ok()) return command.status();
  CapacityQuestion question;
  const absl::StatusOr<ServedModel> served =
      vllm::ApplyServeCommand(*command, &question);
  if (!served.ok()) return served.status();
  const absl::StatusOr<Platform> platform = PlatformOf(startup.platform);
  if (!platform.ok()) return platform.status();
  question.platform = *platform;
  SetVersion(startup, question);
  SetPool(startup, pool, question);
  const absl::StatusOr<ModelSpec> model =
      ReadModelConfig(startup.config, "config", served->hf_overrides);
  if (!model.ok()) return model.status();
  question.model = &*model;
  const absl::StatusOr<std::optional<ModelSpec>> draft = ReadDraft(startup);
  if (!draft.ok()) return draft.status();
  if (draft->has_value()) question.draft_model = &**draft;
  if (const auto tokens = GivenFigure(startup, "kv_cache_tokens")) {
    return FromTokens(static_cast<double>(*tokens),
                      question.max_model_len.value_or(
                          Tokens(model->max_position_embeddings)));
  }
  const absl::StatusOr<CapacityAnswer> answer = AnswerCapacity(question);
  if (!answer.ok()) return answer.status();
  return FiguresOf(answer->pool);
}

}  // namespace kvsim
