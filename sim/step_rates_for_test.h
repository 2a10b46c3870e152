// Measured loads of serving engines, as a roofline sees them.
//
// Model:      a row is a closed loop of `batch` clients with prompts and outputs
//             of fixed lengths; the measurement is the mean time per output
//             token. Every step then decodes `batch` tokens and, to replace
//             finished requests, prefills batch · in / out tokens.
// Kept:       each row once, tensor parallelism only; without gpt-oss at 512
//             clients on H100, whose times no card could reach.
// Data:       not part of the project: KVSIM_SHARED names the folder.

#ifndef KVSIM_SIM_STEP_RATES_FOR_TEST_H_
#define KVSIM_SIM_STEP_RATES_FOR_TEST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/roofline_cost.h"

namespace kvsim {

struct MeasuredLoad {
  std::string engine;        // "vllm", "sglang", "tensorrt-llm"
  std::string architecture;  // rows with equal ones share shape and weights
  std::string weights;       // "bf16", "fp8", "fp4", "int4"
  RooflineModel model;
  RooflineGpu gpu;
  RooflineCost::Load load;
  double seconds = 0;  // measured, per output token
};

// The loads measured on models whose shapes are in the folder's models.
// Errors: what a file or a config lacks.
absl::StatusOr<std::vector<MeasuredLoad>> ReadMeasuredLoads(
    const std::string& shared);

}  // namespace kvsim

#endif  // KVSIM_SIM_STEP_RATES_FOR_TEST_H_
