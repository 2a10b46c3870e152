// What vLLM leaves of one rank's GPU memory for the cache.
//
// Model:   cache = ceil(total x utilization) - weights - non-KV memory, where
//          non-KV memory is the peak of the profiling run (activations), what
//          the CUDA context and the communication library take (non-torch), and
//          from v0.21 on the estimate of the CUDA graphs. The profiling run
//          pushes max_num_batched_tokens dummy tokens and then samples for
//          max_num_seqs rows: at server defaults the sampler decides.
// Error:   the parts are fitted to recorded runs. Against printed weights the
//          cache was within 0.1 GiB in 9 of 10 runs of H100s under v0.17 to
//          v0.20, within 1.4 GiB elsewhere; with weights counted from a
//          mixture-of-experts config within 0.6 GiB. `band` is that distance,
//          0 where every part was given.
// Units:   bytes of one rank.
// Source:  60 start-up logs of vLLM v0.19 on H100 and 40 others, v0.6 to v0.27.

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
