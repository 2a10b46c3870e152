// A step's time as a weighted sum of what is in the batch.
//
// Model:      base + prefill_token · prefill tokens
//                  + decode_request · decoding requests
//                  + context_token · tokens in the cache that the batch reads,
//             in doubles, rounded to the nearest ns (halves up), at least 1 ns.
// Units:      coefficients in microseconds.
#ifndef KVSIM_SIM_LINEAR_COST_H_
#define KVSIM_SIM_LINEAR_COST_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/cost_model.h"

namespace kvsim {

struct LinearCoefficients {
  double base_us = 0;
  double prefill_token_us = 0;
  double decode_request_us = 0;
  double context_token_us = 0;

  friend bool operator==(const LinearCoefficients&,
                         const LinearCoefficients&) = default;
};

// Reads "base=5000,prefill=20.5,decode=100,context=0.0004", in microseconds;
// any part may be missing (0), none may stand twice, be negative or above 1e9.
absl::StatusOr<LinearCoefficients> ParseLinearCoefficients(
    absl::string_view text);

// The formula, in microseconds.
double LinearUs(const LinearCoefficients& coefficients, int64_t prefill_tokens,
                int64_t decode_requests, int64_t context_tokens);

class LinearCost final : public CostModel {
 public:
  explicit LinearCost(const LinearCoefficients& coefficients)
      : coefficients_(coefficients) {}

  int64_t StepNs(const StepPlan& batch) override;

 private:
  LinearCoefficients coefficients_;
};

}  // namespace kvsim

#endif  // KVSIM_SIM_LINEAR_COST_H_
