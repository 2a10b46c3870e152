// Reading how a checkpoint's weights and KV cache are quantized.

#ifndef KVSIM_MODELS_QUANTIZATION_READER_H_
#define KVSIM_MODELS_QUANTIZATION_READER_H_

#include "models/config_fields.h"
#include "models/model_spec.h"

namespace kvsim {

// Reads `quantization_config` (or an hf_quant_config.json's `quantization`)
// from `record`, and `expert_dtype` from `fields`. 4-bit formats of models
// with experts quantize the routed experts only. `has_experts` says which.
QuantizationSpec ReadQuantization(ConfigFields* record, ConfigFields& fields,
                                  DType model_dtype, bool has_experts);

}  // namespace kvsim

#endif  // KVSIM_MODELS_QUANTIZATION_READER_H_
