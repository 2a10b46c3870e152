// llama.cpp's plan: model and flags in; caches, log lines and a PoolPlan out.
//
// Model:   see cache_sizes.h. Caches are "kv" (full history), "swa" (windows),
//          "rs" (recurrent states), "draft" and "draft swa" (a drafter's own,
//          with as many cells). A draft model is a second context with settings
//          of its own; a model's MTP layers draft from the target's.
// Devices: a layer's cache lies where the layer does: with -ngl N the last N
//          layers are on the GPU, the first ones and their caches on the host.
//          The plan counts all of them; `host` says what is not on a GPU.
// Memory:  decides nothing but whether the start succeeds.
// Units:   bytes over all GPUs of one server: llama.cpp splits layers over
//          them, and prints the sum.

#ifndef KVSIM_ENGINES_LLAMA_CPP_POOL_PLANNER_H_
#define KVSIM_ENGINES_LLAMA_CPP_POOL_PLANNER_H_

#include <optional>

#include "absl/status/statusor.h"
#include "base/units.h"
#include "engines/llama_cpp/plan.h"
#include "engines/llama_cpp/settings.h"
#include "models/model_spec.h"

namespace kvsim::llama_cpp {

// `draft` is the model of -md, or nullptr. `memory`: what the caches may take,
// none: not known. Errors: InvalidArgument naming flag and value.
absl::StatusOr<CachePlan> PlanCaches(const ModelSpec& model,
                                     const ModelSpec* draft,
                                     const Settings& settings,
                                     std::optional<Bytes> memory);

}  // namespace kvsim::llama_cpp

#endif  // KVSIM_ENGINES_LLAMA_CPP_POOL_PLANNER_H_
