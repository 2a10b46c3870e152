// The coefficients of a linear cost model, fitted to steps that were measured.
//
// Fit:        least squares of the relative error, Σ (model / measured - 1)²,
//             with no coefficient below zero. Exact: all 15 choices of what may
//             be above zero are solved, the best one with no negative result
//             stays.
// Error:      relative, of one step. "Left out" is what steps that were not
//             measured should expect: every fifth step under a fit to the other
//             four fifths.
// Costs:      O(steps).

#ifndef KVSIM_SIM_LINEAR_FIT_H_
#define KVSIM_SIM_LINEAR_FIT_H_

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "sim/linear_cost.h"
#include "sim/relative_error.h"

namespace kvsim {

struct StepSample {
  int64_t prefill_tokens = 0;
  int64_t decode_requests = 0;
  int64_t context_tokens = 0;  // in the cache, that the batch reads
  double us = 0;               // measured
};

struct LinearFit {
  LinearCoefficients coefficients;
  RelativeError in_sample;
  RelativeError left_out;
};

// Errors: InvalidArgument when there are fewer than 10 samples or one of them
// has a time that is not above 0.
absl::StatusOr<LinearFit> FitLinear(std::span<const StepSample> samples);

}  // namespace kvsim

#endif  // KVSIM_SIM_LINEAR_FIT_H_
