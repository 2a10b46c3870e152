// What one rank of every pipeline stage loads as weights.
//
// Model:   layers split evenly over stages; the embedding is on the first
//          stage, the head on the last, and a tied head on a stage of its own
//          is a second copy of the embedding. Tensor ranks divide a stage,
//          except what each of them keeps whole: norms and routers, what a
//          latent is projected down by, indexers, and KV heads that are fewer
//          than ranks. Kernels of MXFP4 experts want rows in multiples of 256
//          on every rank: 2,880 of gpt-oss become 3,072.
//          A vision tower is on the first stage.
// Missing: audio towers and projectors; the checkpoint's index counts them.
// Error:   tests/memory_after_profiling_test prints it.
// Source:  vLLM's ReplicatedLinear layers (deepseek_v2.py), and load sizes
//          printed in start-up logs.

#ifndef KVSIM_ENGINES_VLLM_RANK_WEIGHTS_H_
#define KVSIM_ENGINES_VLLM_RANK_WEIGHTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "engines/parallel_plan.h"
#include "models/model_spec.h"

namespace kvsim::vllm {

// `stages`: layers of every stage. `given`: bytes of the cluster, divided as
// they are, without copies; else the checkpoint's own size, else a count.
std::vector<Bytes> RankWeights(const ModelSpec& model,
                               const ParallelPlan& parallel,
                               const std::vector<int64_t>& stages,
                               std::optional<Bytes> given, bool mtp_layers);

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_RANK_WEIGHTS_H_
