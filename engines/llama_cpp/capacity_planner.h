// `kvsim capacity --engine llama.cpp`: a question becomes llama-server's
// settings.
//
// Model:   kvsim's flags fill what the engine's command leaves open. The caches
//          follow from the flags; memory (--kv-memory, or what weights leave of
//          all cards together) only decides whether they fit.

#ifndef KVSIM_ENGINES_LLAMA_CPP_CAPACITY_PLANNER_H_
#define KVSIM_ENGINES_LLAMA_CPP_CAPACITY_PLANNER_H_

#include "absl/status/statusor.h"
#include "engines/capacity_question.h"
#include "engines/pooled_engine.h"

namespace kvsim::llama_cpp {

// Errors: InvalidArgument naming flag and value.
absl::StatusOr<PooledPlan> PlanCapacity(const CapacityQuestion& question);

}  // namespace kvsim::llama_cpp

#endif  // KVSIM_ENGINES_LLAMA_CPP_CAPACITY_PLANNER_H_
