// The roofline's efficiencies, fitted to each engine's measured decode steps.
//
// Fit:        least sum of |log(model / measured)| over an engine's loads, by a
//             pattern search from RooflineEfficiencies' defaults; the decode and
//             link efficiencies stay at 0.5, which the loads do not fix.
// Error:      of the time per output token. `left_out` is what a model that is
//             not among the measured ones should expect: each architecture's
//             loads under a fit to all the others.
// Source:     aiconfigurator 095f58a, silicon_sample.csv: vLLM 0.11 to 0.19,
//             SGLang 0.5.1 to 0.5.10, TensorRT-LLM 1.0 to 1.3, on H100, H200,
//             B200, B300 and GB200. sim/roofline_fit_test repeats the fit.

#ifndef KVSIM_SIM_ROOFLINE_FITS_H_
#define KVSIM_SIM_ROOFLINE_FITS_H_

#include <span>
#include <string>

#include "absl/strings/string_view.h"
#include "sim/relative_error.h"
#include "sim/roofline_cost.h"

namespace kvsim {

struct RooflineFit {
  const char* engine;  // as --roofline-engine takes it
  const char* title;   // as people write it
  RooflineEfficiencies efficiencies;
  int loads;
  RelativeError in_sample;
  RelativeError left_out;
};

// One for each engine that was measured; vLLM's first.
std::span<const RooflineFit> RooflineFits();

// The fit for `engine`, or null.
const RooflineFit* FindRooflineFit(absl::string_view engine);

// One sentence for reports: what was fitted and how far off it is.
std::string DescribeError(const RooflineFit& fit);

}  // namespace kvsim

#endif  // KVSIM_SIM_ROOFLINE_FITS_H_
