// TensorRT-LLM's printed figures, by the same code as `kvsim capacity`.

#ifndef KVSIM_TESTS_STARTUP_TENSORRT_LLM_H_
#define KVSIM_TESTS_STARTUP_TENSORRT_LLM_H_

#include "absl/status/statusor.h"
#include "tests/startup_case.h"
#include "tests/startup_figures.h"

namespace kvsim {

absl::StatusOr<StartupFigures> PredictTensorrtLlmStartup(
    const StartupCase& startup, const StartupPool& pool);

}  // namespace kvsim

#endif  // KVSIM_TESTS_STARTUP_TENSORRT_LLM_H_
