// How long one batch takes.
//
// Model:      a pure function of the batch; the engine never sees it.
// Units:      nanoseconds of model time.
#ifndef KVSIM_SIM_COST_MODEL_H_
#define KVSIM_SIM_COST_MODEL_H_

#include <cstdint>

#include "engines/engine.h"

namespace kvsim {

class CostModel {
 public:
  virtual ~CostModel() = default;
  // REQUIRES: batch.total_tokens > 0.
  virtual int64_t StepNs(const StepPlan& batch) = 0;
};

}  // namespace kvsim

#endif  // KVSIM_SIM_COST_MODEL_H_
