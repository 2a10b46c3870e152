// A replay's timeline in memory: the columns of sim/timeline_row.h.
//
// Costs:      209 bytes a step, up to three times that while it grows; reading
//             the ledger once a step.
#ifndef KVSIM_PYTHON_TIMELINE_COLUMNS_H_
#define KVSIM_PYTHON_TIMELINE_COLUMNS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "sim/step_observer.h"
#include "sim/timeline_row.h"

namespace kvsim {

class TimelineColumns final : public StepObserver {
 public:
  void OnStep(const StepRecord& record, const Engine& engine) override;

  // One entry per step; taken over by whoever moves them away.
  std::array<std::vector<int64_t>, kNumTimelineCounts> counts;
  std::vector<uint8_t> limits;  // values of AdmissionLimit
  std::array<std::vector<int64_t>, kNumAccounts> bytes;
};

}  // namespace kvsim

#endif  // KVSIM_PYTHON_TIMELINE_COLUMNS_H_
