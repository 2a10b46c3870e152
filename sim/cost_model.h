// How long one batch takes.
//
// Model:      a pure function of the batch; the engine never sees it.
// Units:      nanoseconds of model time.
// Errors:     a model that cannot price a batch (a recording that ended) still
//             returns a time and says why in status(), which ends the run.
#ifndef KVSIM_SIM_COST_MODEL_H_
#define KVSIM_SIM_COST_MODEL_H_

#include <cstdint>

#include "absl/status/status.h"
#include "engines/engine.h"

namespace kvsim {

class CostModel {
 public:
  virtual ~CostModel() = default;
  // REQUIRES: batch.total_tokens > 0.
  virtual int64_t StepNs(const StepPlan& batch) = 0;
  virtual absl::Status status() const { return absl::OkStatus(); }
};

}  // namespace kvsim

#endif  // KVSIM_SIM_COST_MODEL_H_
