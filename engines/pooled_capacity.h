// `kvsim capacity` for the engines whose caches are pools beside each other:
// SGLang, llama.cpp and TensorRT-LLM.
//
// Model:   the engine's planner makes pools and blocks; requests, costs and
//          accounts follow from them as for vLLM. What another choice would
//          change is not tried.

#ifndef KVSIM_ENGINES_POOLED_CAPACITY_H_
#define KVSIM_ENGINES_POOLED_CAPACITY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engines/capacity_answer.h"
#include "engines/capacity_question.h"

namespace kvsim {

// "sglang", "llama.cpp", "tensorrt-llm".
std::vector<absl::string_view> PooledEngines();

// REQUIRES: the question's engine is one of those.
// Errors: InvalidArgument naming flag and value.
absl::StatusOr<CapacityAnswer> AnswerPooledCapacity(
    const CapacityQuestion& question);

}  // namespace kvsim

#endif  // KVSIM_ENGINES_POOLED_CAPACITY_H_
