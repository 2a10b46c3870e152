#include "engines/engine.h"

#include <array>

namespace kvsim {

const char* AdmissionLimitName(AdmissionLimit limit) {
  static constexpr std::array<const char*, kNumAdmissionLimits> kNames = {
      "none_waiting", "max_sequences", "token_budget",   "preemption",
      "gate",         "blocks",        "state_deferral", "async_drain"};
  return kNames[static_cast<size_t>(limit)];
}

void StepPlan::Clear() {
  total_tokens = 0;
  scheduled.clear();
  admitted.clear();
  resumed.clear();
  preempted.clear();
  copies.clear();
  limit = AdmissionLimit::kNoneWaiting;
}

}  // namespace kvsim
