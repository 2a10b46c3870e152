#include "tests/startup_predictor.h"

#include <utility>

#include "tests/startup_vllm.h"

namespace kvsim {
namespace {

constexpr std::pair<absl::string_view, StartupPredict> kPredicts[] = {
    {"vllm", PredictVllmStartup},
};

}  // namespace

StartupPredict FindStartupPredict(absl::string_view engine) {
  for (const auto& [name, predict] : kPredicts) {
    if (name == engine) return predict;
  }
  return nullptr;
}

}  // namespace kvsim
