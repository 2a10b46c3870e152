// An engine that only says what a test told it to say.
#ifndef KVSIM_SIM_FAKE_ENGINE_H_
#define KVSIM_SIM_FAKE_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engines/engine.h"

namespace kvsim {

class FakeEngine final : public Engine {
 public:
  EngineCounts counts;
  LedgerSnapshot ledger;
  std::vector<LedgerSnapshot> groups;  // empty: one group, the whole ledger

  Admission Add(const RequestParams&) override { return Admission::kQueued; }
  bool HasUnfinished() const override { return false; }
  void Schedule(StepPlan* plan) override { plan->Clear(); }
  void Complete(const StepPlan&, std::span<const int32_t>,
                std::vector<RequestId>*) override {}
  RequestId WaitingHead() const override { return 0; }
  RequestId AbortHead() override { return 0; }
  EngineCounts Counts() const override { return counts; }
  LedgerSnapshot Ledger() const override { return ledger; }
  int64_t NumOutputs(RequestId) const override { return 0; }
  LedgerSnapshot GroupLedger(int group) const override {
    return groups.empty() ? Engine::GroupLedger(group)
                          : groups[static_cast<size_t>(group)];
  }
  int NumGroups() const override {
    return groups.empty() ? 1 : static_cast<int>(groups.size());
  }
  std::span<const BlockId> BlockTable(RequestId, int) const override {
    return {};
  }
  std::vector<int64_t> CommonPrefixBlocks() const override { return {0}; }
  AllocatorState Inspect() const override { return {}; }
  std::string CheckInvariants() const override { return ""; }
};

}  // namespace kvsim

#endif  // KVSIM_SIM_FAKE_ENGINE_H_
