#include "tools/capacity_serve.h"

#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "engines/llama_cpp/serve_flag_table.h"
#include "engines/pooled_serve.h"
#include "engines/serve_flags.h"
#include "engines/served_model.h"
#include "engines/sglang/serve_flag_table.h"
#include "engines/tensorrt_llm/serve_flag_table.h"
#include "engines/vllm/serve_arguments.h"
#include "engines/vllm/serve_flag_table.h"
#include "models/assumed_attention.h"
#include "models/model_loader.h"
#include "tools/command.h"

namespace kvsim {
namespace {

// An engine whose commands are read.
struct ServedEngine {
  absl::string_view engine;
  const ServeGrammar& (*grammar)();
  absl::StatusOr<ServedModel> (*apply)(const ServeCommand& command,
                                       CapacityQuestion* question);
};

constexpr ServedEngine kServedEngines[] = {
    {"vllm", vllm::VllmServeGrammar, vllm::ApplyServeCommand},
    {"sglang", sglang::SglangServeGrammar, ApplySglangCommand},
    {"llama.cpp", llama_cpp::LlamaServeGrammar, ApplyLlamaCppCommand},
    {"tensorrt-llm", tensorrt_llm::TrtllmServeGrammar, ApplyTensorrtLlmCommand},
};

// One of kvsim's flags that an engine's command may have too.
struct Shared {
  absl::string_view flag;
  std::string CapacityFlags::*text;  // empty: not given
  absl::string_view serve_flag;
  bool (*same)(const CapacityQuestion& a, const CapacityQuestion& b);
};

template <auto Field>
bool SameField(const CapacityQuestion& a, const CapacityQuestion& b) {
  return a.*Field == b.*Field;
}

using Q = CapacityQuestion;
using F = CapacityFlags;

constexpr Shared kShared[] = {
    {"--gpu-memory-utilization", &F::gpu_memory_utilization,
     "--gpu-memory-utilization", SameField<&Q::gpu_memory_utilization>},
    {"--kv-memory", &F::kv_memory, "--kv-cache-memory-bytes",
     SameField<&Q::kv_memory>},
    {"--num-gpu-blocks", &F::num_gpu_blocks, "--num-gpu-blocks-override",
     SameField<&Q::num_gpu_blocks>},
    {"--tensor-parallel-size", &F::tensor, "--tensor-parallel-size",
     SameField<&Q::tensor>},
    {"--pipeline-parallel-size", &F::pipeline, "--pipeline-parallel-size",
     SameField<&Q::pipeline>},
    {"--decode-context-parallel-size", &F::decode_context,
     "--decode-context-parallel-size", SameField<&Q::decode_context>},
    {"--kv-cache-dtype", &F::kv_cache_dtype, "--kv-cache-dtype",
     SameField<&Q::kv_cache_dtype>},
    {"--mamba-ssm-cache-dtype", &F::state_dtype, "--mamba-ssm-cache-dtype",
     SameField<&Q::state_dtype>},
    {"--mamba-cache-dtype", &F::conv_state_dtype, "--mamba-cache-dtype",
     SameField<&Q::conv_state_dtype>},
    {"--block-size", &F::block_size, "--block-size", SameField<&Q::block_size>},
    {"--max-model-len", &F::max_model_len, "--max-model-len",
     SameField<&Q::max_model_len>},
    {"--max-num-batched-tokens", &F::max_num_batched_tokens,
     "--max-num-batched-tokens", SameField<&Q::max_num_batched_tokens>},
    {"--max-num-seqs", &F::max_num_seqs, "--max-num-seqs",
     SameField<&Q::max_num_seqs>},
    {"--num-speculative-tokens", &F::speculative_tokens, "--speculative-config",
     SameField<&Q::speculative_tokens>},
    {"--enable-prefix-caching", &F::prefix_caching, "--enable-prefix-caching",
     SameField<&Q::prefix_caching>},
};

absl::Status Contradiction(absl::string_view flag, absl::string_view value,
                           const GivenFlag& given) {
  return UsageError(absl::StrCat(flag, value.empty() ? "" : " ", value,
                                 " contradicts ", given.Text(), " (",
                                 given.place, ")"));
}

// `ours` is what kvsim's flags say, `theirs` what the command says.
absl::Status CheckContradictions(const CapacityFlags& flags,
                                 const CapacityQuestion& ours,
                                 const CapacityQuestion& theirs,
                                 const ServeCommand& command) {
  // Engines with settings of their own lay kvsim's flags over them themselves.
  if (!std::holds_alternative<std::monostate>(theirs.engine_settings)) {
    return absl::OkStatus();
  }
  for (const Shared& shared : kShared) {
    const GivenFlag* given = command.Find(shared.serve_flag);
    const std::string& text = flags.*shared.text;
    if (given == nullptr || text.empty() || shared.same(ours, theirs)) continue;
    return Contradiction(shared.flag, text, *given);
  }
  const GivenFlag* async = command.Find("--async-scheduling");
  if (flags.no_async_scheduling && async != nullptr && !async->negated) {
    return Contradiction("--no-async-scheduling", "", *async);
  }
  const GivenFlag* manager = command.Find("--disable-hybrid-kv-cache-manager");
  if (flags.no_hybrid_manager && manager != nullptr && manager->negated) {
    return Contradiction("--disable-hybrid-kv-cache-manager", "", *manager);
  }
  const GivenFlag* overrides = command.Find("--hf-overrides");
  if (!flags.hf_overrides.empty() && overrides != nullptr &&
      overrides->values[0] != flags.hf_overrides) {
    return Contradiction("--hf-overrides", flags.hf_overrides, *overrides);
  }
  return absl::OkStatus();
}

absl::StatusOr<const ServedEngine*> FindServedEngine(
    const std::string& engine) {
  std::string known;
  for (const ServedEngine& served : kServedEngines) {
    if (served.engine == engine) return &served;
    absl::StrAppend(&known, known.empty() ? "" : ", ", served.engine);
  }
  return UsageError(absl::StrCat("--engine ", engine,
                                 ": no command of it is read after `--`; "
                                 "engines whose commands are: ",
                                 known));
}

// A name on a hub, "org/Name", may be a catalogue name without its first part.
absl::StatusOr<ModelSpec> LoadNamed(const std::string& name,
                                    const std::string& overrides,
                                    AssumedAttention assume,
                                    absl::string_view flag) {
  absl::StatusOr<ModelSpec> model = LoadModel(name, overrides, assume);
  const size_t slash = name.rfind('/');
  if (model.ok() || slash == std::string::npos) return model;
  absl::StatusOr<ModelSpec> plain =
      LoadModel(name.substr(slash + 1), overrides, assume);
  if (plain.ok()) return plain;
  return absl::Status(
      model.status().code(),
      absl::StrCat(model.status().message(), "; ", flag,
                   " takes a config.json or a catalogue name for it"));
}

struct Names {
  std::string model, overrides, draft_model;
};

absl::Status LoadModels(const CapacityFlags& flags, const Names& names,
                        LoadedQuestion* loaded) {
  if (names.model.empty()) {
    return UsageError(
        "--model is required: a catalogue name, config.json, or "
        "model folder");
  }
  const absl::StatusOr<AssumedAttention> assume =
      ParseAssumedAttention(flags.assume);
  if (!assume.ok()) return assume.status();
  absl::StatusOr<ModelSpec> model =
      LoadNamed(names.model, names.overrides, *assume, "--model");
  if (!model.ok()) return model.status();
  loaded->model = *std::move(model);
  loaded->question.model = &loaded->model;
  loaded->model_source =
      absl::StrJoin({loaded->model.name, names.overrides, flags.assume}, "\n");
  if (names.draft_model.empty()) return absl::OkStatus();
  absl::StatusOr<ModelSpec> draft =
      LoadNamed(names.draft_model, "", *assume, "--draft-model");
  if (!draft.ok()) return draft.status();
  loaded->draft_model = *std::move(draft);
  loaded->question.draft_model = &*loaded->draft_model;
  loaded->draft_source =
      absl::StrCat(loaded->draft_model->name, "\n", flags.assume);
  return absl::OkStatus();
}

}  // namespace

std::string EngineStartedBy(const std::vector<std::string>& words) {
  for (const ServedEngine& served : kServedEngines) {
    if (StartsEngine(served.grammar(), words))
      return std::string(served.engine);
  }
  return "";
}

absl::StatusOr<ServeCommand> ReadCommandOf(
    const std::string& engine, const std::vector<std::string>& words) {
  const absl::StatusOr<const ServedEngine*> served = FindServedEngine(engine);
  if (!served.ok()) return served.status();
  return ReadServeCommand((*served)->grammar(), words);
}

absl::Status LoadQuestion(const CapacityFlags& flags,
                          const std::vector<std::string>& serve_words,
                          LoadedQuestion* loaded) {
  absl::StatusOr<CapacityQuestion> ours = QuestionOf(flags, loaded->model);
  if (!ours.ok()) return ours.status();
  loaded->question = *ours;
  Names names = {flags.model, flags.hf_overrides, flags.draft_model};
  if (serve_words.empty()) return LoadModels(flags, names, loaded);

  const absl::StatusOr<const ServedEngine*> engine =
      FindServedEngine(flags.engine);
  if (!engine.ok()) return engine.status();
  const absl::StatusOr<ServeCommand> command =
      ReadServeCommand((*engine)->grammar(), serve_words);
  if (!command.ok()) return UsageError(command.status().message());
  CapacityQuestion theirs;
  absl::StatusOr<ServedModel> served = (*engine)->apply(*command, &theirs);
  if (!served.ok()) return UsageError(served.status().message());
  absl::Status status = CheckContradictions(flags, *ours, theirs, *command);
  if (!status.ok()) return status;
  served = (*engine)->apply(*command, &loaded->question);
  if (!served.ok()) return UsageError(served.status().message());
  loaded->question.notes = served->warnings;
  if (names.model.empty()) names.model = served->model;
  if (names.overrides.empty()) names.overrides = served->hf_overrides;
  if (names.draft_model.empty()) names.draft_model = served->draft_model;
  return LoadModels(flags, names, loaded);
}

}  // namespace kvsim
