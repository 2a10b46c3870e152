// The lines with which llama.cpp tells its caches, as of late 2025 on.

#ifndef KVSIM_ENGINES_LLAMA_CPP_CAPACITY_LOG_H_
#define KVSIM_ENGINES_LLAMA_CPP_CAPACITY_LOG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engines/llama_cpp/plan.h"
#include "engines/llama_cpp/settings.h"

namespace kvsim::llama_cpp {

// `model_layers`: all layers of the model, which the state's line counts.
std::vector<std::string> CapacityLog(const CachePlan& plan,
                                     const Settings& settings,
                                     int64_t model_layers);

}  // namespace kvsim::llama_cpp

#endif  // KVSIM_ENGINES_LLAMA_CPP_CAPACITY_LOG_H_
