#include "tests/startup_predictor.h"

#include <utility>

#include "tests/startup_llama_cpp.h"
#include "tests/startup_sglang.h"
#include "tests/startup_tensorrt_llm.h"
#include "tests/startup_vllm.h"

namespace kvsim {
namespace {

constexpr std::pair<absl::string_view, StartupPredict> kPredicts[] = {
    {"vllm", PredictVllmStartup},
    {"sglang", PredictSglangStartup},
    {"llama.cpp", PredictLlamaCppStartup},
    {"tensorrt-llm", PredictTensorrtLlmStartup},
};

}  // namespace

StartupPredict FindStartupPredict(absl::string_view engine) {
  for (const auto& [name, predict] : kPredicts) {
    if (name == engine) return predict;
  }
  return nullptr;
}

}  // namespace kvsim
