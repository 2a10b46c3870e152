// Every step takes the same time.
#ifndef KVSIM_SIM_FIXED_COST_H_
#define KVSIM_SIM_FIXED_COST_H_

#include <cstdint>

#include "base/check.h"
#include "sim/cost_model.h"

namespace kvsim {

class FixedCost final : public CostModel {
 public:
  // REQUIRES: step_ns > 0.
  explicit FixedCost(int64_t step_ns) : step_ns_(step_ns) {
    KVSIM_CHECK(step_ns > 0) << step_ns;
  }

  int64_t StepNs(const StepPlan&) override { return step_ns_; }

 private:
  int64_t step_ns_;
};

}  // namespace kvsim

#endif  // KVSIM_SIM_FIXED_COST_H_
