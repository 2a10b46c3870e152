#include "engines/pooled_serve.h"

#include <utility>

#include "engines/llama_cpp/serve_arguments.h"
#include "engines/sglang/serve_arguments.h"
#include "engines/tensorrt_llm/serve_arguments.h"

namespace kvsim {

absl::StatusOr<ServedModel> ApplySglangCommand(const ServeCommand& command,
                                               CapacityQuestion* question) {
  absl::StatusOr<sglang::ServeArguments> arguments =
      sglang::ReadServeArguments(command);
  if (!arguments.ok()) return arguments.status();
  ServedModel served;
  served.model = std::move(arguments->model);
  served.hf_overrides = std::move(arguments->model_overrides);
  served.draft_model = arguments->settings.speculative_draft_model_path;
  served.warnings = std::move(arguments->warnings);
  question->engine_settings = std::move(arguments->settings);
  return served;
}

absl::StatusOr<ServedModel> ApplyLlamaCppCommand(const ServeCommand& command,
                                                 CapacityQuestion* question) {
  absl::StatusOr<llama_cpp::ServeArguments> arguments =
      llama_cpp::ReadServeArguments(command);
  if (!arguments.ok()) return arguments.status();
  ServedModel served;
  served.model = std::move(arguments->model);
  served.draft_model = arguments->settings.draft_model;
  served.warnings = std::move(arguments->warnings);
  question->engine_settings = std::move(arguments->settings);
  return served;
}

absl::StatusOr<ServedModel> ApplyTensorrtLlmCommand(
    const ServeCommand& command, CapacityQuestion* question) {
  absl::StatusOr<tensorrt_llm::ServeArguments> arguments =
      tensorrt_llm::ReadServeArguments(command);
  if (!arguments.ok()) return arguments.status();
  ServedModel served;
  served.model = std::move(arguments->model);
  served.warnings = std::move(arguments->warnings);
  question->engine_settings = std::move(arguments->settings);
  return served;
}

}  // namespace kvsim
