// Reading a Hugging Face config.json into a ModelSpec.
//
// One table of dialects, keyed by model_type, says for each family which kind
// of attention its fields describe and which class defaults hold where a field
// is absent. No rule looks at a model's name.

#ifndef KVSIM_MODELS_MODEL_CONFIG_H_
#define KVSIM_MODELS_MODEL_CONFIG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/assumed_attention.h"
#include "models/model_spec.h"

namespace kvsim {

// `json` is the text of a config.json; `name` names it in errors and becomes
// ModelSpec::name. `overrides`: see LoadModel. `quantization_record`: text of
// an hf_quant_config.json beside it, "" if there is none. `assume` says how to
// read a family that the table lacks; it has no effect on a known one.
absl::StatusOr<ModelSpec> ReadModelConfig(
    absl::string_view json, absl::string_view name,
    absl::string_view overrides = "",
    absl::string_view quantization_record = "",
    AssumedAttention assume = AssumedAttention::kNone);

// The model_type values the table accepts, in its order.
std::vector<std::string> SupportedModelTypes();

}  // namespace kvsim

#endif  // KVSIM_MODELS_MODEL_CONFIG_H_
