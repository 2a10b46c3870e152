// Commands that start SGLang, llama.cpp and TensorRT-LLM, as part of a
// CapacityQuestion.
//
// Each reads a command into the engine's own settings and sets
// question->engine_settings; kvsim's flags are laid over them by the engine's
// capacity planner. Models are named, not loaded.
// Errors: InvalidArgument with place, flag, value and what would be accepted.

#ifndef KVSIM_ENGINES_POOLED_SERVE_H_
#define KVSIM_ENGINES_POOLED_SERVE_H_

#include "absl/status/statusor.h"
#include "engines/capacity_question.h"
#include "engines/serve_flags.h"
#include "engines/served_model.h"

namespace kvsim {

// REQUIRES: the command was read with the engine's grammar.
absl::StatusOr<ServedModel> ApplySglangCommand(const ServeCommand& command,
                                               CapacityQuestion* question);
absl::StatusOr<ServedModel> ApplyLlamaCppCommand(const ServeCommand& command,
                                                 CapacityQuestion* question);
absl::StatusOr<ServedModel> ApplyTensorrtLlmCommand(const ServeCommand& command,
                                                    CapacityQuestion* question);

}  // namespace kvsim

#endif  // KVSIM_ENGINES_POOLED_SERVE_H_
