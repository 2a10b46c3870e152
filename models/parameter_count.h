// Counting a model's weights from its shape.
//
// The split is by how checkpoints quantize: attention, dense feed-forward and
// routed experts may be 8 or 4 bits; embedding and head, norms and routers
// stay in the model's dtype.

#ifndef KVSIM_MODELS_PARAMETER_COUNT_H_
#define KVSIM_MODELS_PARAMETER_COUNT_H_

#include <cstdint>

#include "models/dtype.h"
#include "models/model_spec.h"

namespace kvsim {

struct ParameterCount {
  int64_t attention = 0;  // projections, indexers, recurrent mixers
  int64_t dense_ffn = 0;  // dense layers and shared experts
  int64_t routed_experts = 0;
  int64_t embedding = 0;
  int64_t head = 0;  // 0 when tied to the embedding
  int64_t norms_and_routers = 0;

  int64_t total() const {
    return attention + dense_ffn + routed_experts + embedding + head +
           norms_and_routers;
  }
};

// Weights of the text model. Encoders, vision towers are not counted; MTP
// layers only when asked. Parts beyond 10^18 weights saturate there, as do
// WeightBytes() beyond 10^18 bytes.
ParameterCount CountParameters(const ModelSpec& spec, bool mtp_layers = false);

// Stored bytes of one weight, its share of its group's scales included.
double BytesPerWeight(DType dtype);

// Bytes of those weights as the checkpoint's quantization record stores them:
// bf16 2, fp8 and int8 1, int4 and mxfp4 0.53125, nvfp4 0.5625 per weight
// (scales included); embedding, head, norms and routers in ModelSpec::dtype.
int64_t WeightBytes(const ModelSpec& spec, bool mtp_layers = false);

}  // namespace kvsim

#endif  // KVSIM_MODELS_PARAMETER_COUNT_H_
