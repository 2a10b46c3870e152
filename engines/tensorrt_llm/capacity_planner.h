// `kvsim capacity --engine tensorrt-llm`: a question becomes TensorRT-LLM's
// settings and memory.
//
// Model:   kvsim's flags fill what the engine's command leaves open. --kv-memory
//          is what the blocks take; of a card the fraction of what weights
//          leave.

#ifndef KVSIM_ENGINES_TENSORRT_LLM_CAPACITY_PLANNER_H_
#define KVSIM_ENGINES_TENSORRT_LLM_CAPACITY_PLANNER_H_

#include "absl/status/statusor.h"
#include "engines/capacity_question.h"
#include "engines/pooled_engine.h"

namespace kvsim::tensorrt_llm {

// Errors: InvalidArgument naming flag and value.
absl::StatusOr<PooledPlan> PlanCapacity(const CapacityQuestion& question);

}  // namespace kvsim::tensorrt_llm

#endif  // KVSIM_ENGINES_TENSORRT_LLM_CAPACITY_PLANNER_H_
