// The inverse of `kvsim capacity`: how many GPUs a number of requests needs.

#ifndef KVSIM_ENGINES_DEPLOYMENT_SEARCH_H_
#define KVSIM_ENGINES_DEPLOYMENT_SEARCH_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/units.h"
#include "engines/capacity_question.h"
#include "engines/parallel_plan.h"

namespace kvsim {

// A way to serve the wanted number of requests.
struct Deployment {
  ParallelPlan parallel;
  int64_t num_gpus = 0;
  Blocks num_blocks;
  std::vector<int64_t> resident;  // for each context
};

// The inverse: the fewest GPUs (1, 2, 4, 8 ... 1,024) on which `concurrency`
// requests of every context are resident at once, every split over tp, dcp and
// pp that reaches it there, simplest first: fewer pipeline stages, then fewer
// context ranks. Empty when no number of GPUs does.
// Errors: as AnswerCapacity; `concurrency` must be positive; --kv-memory and
// --num-gpu-blocks say nothing about another number of GPUs and are refused.
absl::StatusOr<std::vector<Deployment>> FindDeployments(
    const CapacityQuestion& question, int64_t concurrency);

}  // namespace kvsim

#endif  // KVSIM_ENGINES_DEPLOYMENT_SEARCH_H_
