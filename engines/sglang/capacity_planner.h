// `kvsim capacity --engine sglang`: a question becomes SGLang's settings and
// memory.
//
// Model:   kvsim's flags fill what the engine's command leaves open. Memory is
//          what --kv-memory gives on a rank, the tokens of --num-gpu-blocks
//          pages less the padding's, or total x mem_fraction_static - weights
//          of a card. Without the flag the fraction leaves 512 MB, 1.5 MB for
//          each token of a prefill chunk (2,048 at least), 1,024 MB for every 8
//          GPUs, 10 GB at least on cards above 60 GB; what CUDA graphs add to
//          that is not known.
// Source:  server_args.py of 2026-07-20.

#ifndef KVSIM_ENGINES_SGLANG_CAPACITY_PLANNER_H_
#define KVSIM_ENGINES_SGLANG_CAPACITY_PLANNER_H_

#include "absl/status/statusor.h"
#include "engines/capacity_question.h"
#include "engines/pooled_engine.h"

namespace kvsim::sglang {

// Errors: InvalidArgument naming flag and value.
absl::StatusOr<PooledPlan> PlanCapacity(const CapacityQuestion& question);

// The fraction of a card that the engine chooses itself.
double AutoMemFraction(Bytes gpu_total, int64_t chunked_prefill_size,
                       int64_t gpus);

}  // namespace kvsim::sglang

#endif  // KVSIM_ENGINES_SGLANG_CAPACITY_PLANNER_H_
