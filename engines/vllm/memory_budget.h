// What vLLM leaves of one rank's GPU memory for the cache.
//
// Model:   cache = ceil(total x utilization) - weights - non-KV memory, where
//          non-KV memory is the peak of the profiling run (activations), what
//          the CUDA context and the communication library take (non-torch), and
//          from v0.21 on the estimate of the CUDA graphs. The profiling run
//          pushes max_num_batched_tokens dummy tokens and then samples for
//          max_num_seqs rows: at server defaults the sampler decides.
//          Torch's fragmentation is part of the printed peak, so of the fit.
// Error:   the parts are fitted to recorded starts, and `band` is how far nine
//          of ten of them lay from the printed cache: by card, version, and
//          whether weights are given; 0 where every part is given.
//          tests/memory_after_profiling_test prints start by start.
// Units:   bytes of one rank.
// Source:  59 start-up logs of vLLM v0.19 on H100 and 34 others, v0.6 to v0.31.

#ifndef KVSIM_ENGINES_VLLM_MEMORY_BUDGET_H_
#define KVSIM_ENGINES_VLLM_MEMORY_BUDGET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/units.h"
#include "engines/parallel_plan.h"
#include "engines/vllm/planner_switches.h"
#include "models/gpu_catalogue.h"
#include "models/model_spec.h"

namespace kvsim::vllm {

// What a server runs with when its flags do not say, by the card.
struct BatchDefaults {
  int64_t max_num_batched_tokens = 8192;
  int64_t max_num_seqs = 1024;
};
// `total`: memory the engine sees; 0: unknown, taken as a card of 80 GiB.
BatchDefaults DefaultBatch(Bytes total, int sm);
// V0 profiles a whole prompt, until chunks begin above 32,768 tokens.
BatchDefaults PreviousDefaultBatch(int64_t max_model_len);

// Whether the card's link to others is NVLink or the like, not PCIe. A card
// whose link nobody states counts as linked.
bool HasFastLink(const Gpu& gpu);

// Where the bytes of one rank go.
struct MemoryBudget {
  int64_t stage = 0;
  Bytes gpu_total;
  Bytes requested;  // ceil(total x utilization)
  Bytes weights;
  Bytes activations;
  Bytes non_torch;
  Bytes cuda_graphs;
  Bytes other_non_kv;  // given as one figure instead of the three parts
  Bytes kv;            // may be negative: then the start fails
  Bytes band;          // the true kv lies within +- band in 9 of 10 runs
  std::string band_basis;

  Bytes NonKv() const {
    return activations + non_torch + cuda_graphs + other_non_kv;
  }
};

struct BudgetInput {
  Bytes gpu_total;
  int sm = 0;
  bool fast_link = true;  // between tensor ranks
  double utilization = 0.92;
  ParallelPlan parallel;
  std::optional<Bytes> weight_bytes;   // of the cluster, one copy of the model
  std::optional<Bytes> non_kv_memory;  // of one rank
  int64_t max_num_batched_tokens = 8192;
  int64_t max_num_seqs = 1024;
  bool mtp_layers = false;
  PlannerSwitches switches;
};

// One budget for each pipeline stage.
// Errors: InvalidArgument naming flag and value: a utilization outside (0, 1]
// or not a number, negative sizes.
absl::StatusOr<std::vector<MemoryBudget>> BudgetStages(
    const ModelSpec& model, const BudgetInput& input);

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_MEMORY_BUDGET_H_
