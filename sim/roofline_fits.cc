#include "sim/roofline_fits.h"

#include "absl/strings/str_format.h"

namespace kvsim {
namespace {

constexpr RooflineFit kFits[] = {
    {"vllm",
     "vLLM",
     {.memory = 0.775,
      .prefill = 0.555,
      .layer_us = 31.9,
      .parallel_layer_us = 38.0,
      .expert_layer_us = 32.4},
     1057,
     {0.111, 0.335},
     {0.120, 0.353}},
    {"sglang",
     "SGLang",
     {.memory = 0.672,
      .prefill = 0.788,
      .layer_us = 13.5,
      .parallel_layer_us = 37.8,
      .expert_layer_us = 62.6},
     681,
     {0.159, 0.439},
     {0.211, 0.849}},
    {"tensorrt-llm",
     "TensorRT-LLM",
     {.memory = 0.958,
      .prefill = 0.435,
      .layer_us = 38.0,
      .parallel_layer_us = 32.1,
      .expert_layer_us = 31.3},
     1086,
     {0.139, 0.410},
     {0.169, 0.437}},
};

}  // namespace

std::span<const RooflineFit> RooflineFits() { return kFits; }

const RooflineFit* FindRooflineFit(absl::string_view engine) {
  for (const RooflineFit& fit : kFits) {
    if (engine == fit.engine) return &fit;
  }
  return nullptr;
}

std::string DescribeError(const RooflineFit& fit) {
  return absl::StrFormat(
      "step times are a roofline fitted to %d measured loads of %s; on a model "
      "left out of the fit half of the times are within %.1f %%, nine in ten "
      "within %.1f %%",
      fit.loads, fit.title, 100 * fit.left_out.median, 100 * fit.left_out.p90);
}

}  // namespace kvsim
