// Loading a ModelSpec by catalogue name, config.json, GGUF file or folder.

#ifndef KVSIM_MODELS_MODEL_LOADER_H_
#define KVSIM_MODELS_MODEL_LOADER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/assumed_attention.h"
#include "models/model_spec.h"

namespace kvsim {

// `name_or_path` is, in this order: a catalogue name (case ignored), a
// config.json, a GGUF file (known by its first bytes), a folder that holds a
// config.json or GGUF files. In a folder hf_quant_config.json adds what the
// checkpoint says about its cache, and the safetensors index (or the one
// safetensors file) the bytes of its weights. Split GGUF files: the first one
// holds the header. At most the first 64 MiB of a GGUF file are read.
// `overrides` is a JSON object merged into the config before it is read, as
// engines' --hf-overrides does ("" for none). Errors name file, field, value
// and what would be accepted; an unknown name lists the catalogue. `assume`:
// see ReadModelConfig.
absl::StatusOr<ModelSpec> LoadModel(
    absl::string_view name_or_path, absl::string_view overrides = "",
    AssumedAttention assume = AssumedAttention::kNone);

}  // namespace kvsim

#endif  // KVSIM_MODELS_MODEL_LOADER_H_
