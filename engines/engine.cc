#include "engines/engine.h"

#include <array>

#include "base/check.h"

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
  swapped_out.clear();
  swapped_in.clear();
  copies.clear();
  limit = AdmissionLimit::kNoneWaiting;
}

Engine::Forked Engine::Fork(RequestId, const RequestParams&) {
  KVSIM_CHECK(false) << "this engine does not fork";
  return Forked::kWaits;
}

void Engine::Drop(RequestId) {
  KVSIM_CHECK(false) << "this engine does not drop requests";
}

LedgerSnapshot Engine::GroupLedger(int group) const {
  KVSIM_CHECK(group == 0 && NumGroups() == 1);
  LedgerSnapshot ledger = Ledger();
  for (const Account nobodys :
       {Account::kRemainder, Account::kNull, Account::kFree}) {
    ledger.pool_bytes -= ledger[nobodys];
    ledger[nobodys] = 0;
  }
  ledger[OfWhich::kDuplicates] = 0;
  return ledger;
}

}  // namespace kvsim
