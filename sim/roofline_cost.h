// A step's time from what it moves and computes on one GPU type.
//
// Model:      max(bytes / (memory · η_memory), flops / (peak · η_decode))
//               + prefill flops / (peak · η_prefill)
//               + all-reduced bytes / (link · η_link)
//               + layers · (a_layer + a_parallel [tp > 1] + a_experts [MoE])
//             where, per rank, with D decode tokens, P prefill tokens and B
//             tokens that choose experts (D, or P when nothing decodes):
//               bytes  = (expert weights · (1 - (1 - K/E)^B) + other
//               weights)/tp
//                        + KV bytes of the decoding requests' context
//               flops  = 2 · active parameters · D / tp; prefill: with P
//               all-reduced = 2 per layer · D · hidden · 2 B · 2 (tp - 1) / tp
//             "Other weights" leave the embedding table out: a step reads only
//             the rows of its tokens. Prefill attention is not priced.
// Fitted:     roofline_fits.h has an engine's efficiencies and their error; the
//             defaults here are those of a published fit to vLLM.
// Determinism: + - * / on doubles only, so that libraries cannot differ; the
//             power is repeated squaring.
#ifndef KVSIM_SIM_ROOFLINE_COST_H_
#define KVSIM_SIM_ROOFLINE_COST_H_

#include <cstdint>

#include "absl/status/status.h"
#include "sim/batch_shape.h"
#include "sim/cost_model.h"

namespace kvsim {

// The model as one replica runs it. Totals over all ranks unless it says rank.
struct RooflineModel {
  double other_weight_bytes = 0;   // without embedding table and experts
  double expert_weight_bytes = 0;  // routed experts
  double active_parameters = 0;    // a token's, without the embedding table
  int64_t num_experts = 0;         // E; 0: dense
  int64_t experts_per_token = 0;   // K
  int64_t num_layers = 0;
  int64_t hidden_size = 0;
  double kv_bytes_per_token_per_rank = 0;
  int64_t tensor_parallel = 1;
};

struct RooflineGpu {
  double memory_bytes_per_s = 0;
  double peak_flops = 0;        // dense, at the dtype of the weights
  double link_bytes_per_s = 0;  // one way; used when tensor_parallel > 1
};

struct RooflineEfficiencies {
  double memory = 0.76;
  double decode = 0.5;
  double prefill = 0.56;
  double link = 0.5;
  double layer_us = 32;
  double parallel_layer_us = 38;
  double expert_layer_us = 29;
};

class RooflineCost final : public CostModel {
 public:
  // REQUIRES: Validate(model, gpu).ok().
  RooflineCost(const RooflineModel& model, const RooflineGpu& gpu,
               const RooflineEfficiencies& efficiencies = {});

  // InvalidArgument that names the field which is missing or out of range.
  static absl::Status Validate(const RooflineModel& model,
                               const RooflineGpu& gpu);

  int64_t StepNs(const StepPlan& batch) override;

  // The formula on averages: every number may be a fraction of a token.
  struct Load {
    double decode_tokens = 0;
    double decode_context = 0;
    double prefill_tokens = 0;
    int64_t routed_tokens = 0;  // B of the model comment
  };
  double Seconds(const Load& load) const;

 private:
  double WeightBytes(int64_t routed_tokens) const;

  RooflineModel model_;
  RooflineGpu gpu_;
  RooflineEfficiencies eta_;
};

}  // namespace kvsim

#endif  // KVSIM_SIM_ROOFLINE_COST_H_
