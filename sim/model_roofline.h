// The roofline's inputs, read from a model and a card.
#ifndef KVSIM_SIM_MODEL_ROOFLINE_H_
#define KVSIM_SIM_MODEL_ROOFLINE_H_

#include <cstdint>

#include "models/gpu_catalogue.h"
#include "models/model_spec.h"
#include "sim/roofline_cost.h"

namespace kvsim {

// Weights are priced as the checkpoint stores them. A model that mixes expert
// counts takes the first MoE layer's; experts that a token activates are
// counted with their share K/E.
RooflineModel RooflineModelOf(const ModelSpec& spec, int64_t tensor_parallel,
                              double kv_bytes_per_token_per_rank);

// The context length at which a token's attention to it costs as many operations as
// the rest of the token; 0: no layer reads the whole history. Sparse attention counts
// its scoring of every token, compressed attention its entries.
int64_t AttentionBalance(const ModelSpec& spec);

// The peak at the dtype of most weights: fp8 multiplies in fp8, MXFP4 and NVFP4
// in fp4, everything else in bf16 (4-bit integers are unpacked). A peak the card
// lacks falls back to the next wider one: the published fit does the same. What
// the catalogue does not know is 0, which RooflineCost::Validate names.
RooflineGpu RooflineGpuOf(const Gpu& gpu, const ModelSpec& spec);

}  // namespace kvsim

#endif  // KVSIM_SIM_MODEL_ROOFLINE_H_
