// An engine whose allocator has a bug: what its workers are told is what they would
// be told if the pool made one mistake.
//
// Model:      forwards everything; the mistake shows in the block tables and copies
//             that it reports from `from_step` on, as soon as there is occasion.
// Ownership:  keeps a pointer to the engine.
#ifndef KVSIM_TESTS_FAULTY_ENGINE_H_
#define KVSIM_TESTS_FAULTY_ENGINE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engines/engine.h"

namespace kvsim {

enum class AllocatorBug : uint8_t {
  kNone,
  kStaleFree,  // a block is freed twice: the pool gives it out while it is owned
  kStaleTable,  // a request that comes back keeps the table of blocks it gave up
  kLostCopy,    // a shared block is written in place: copy on write is left out
};

class FaultyEngine final : public Engine {
 public:
  FaultyEngine(Engine* engine, AllocatorBug bug, int64_t from_step)
      : engine_(engine), bug_(bug), from_step_(from_step) {}

  // Whether the mistake was made.
  bool struck() const { return struck_; }

  Admission Add(const RequestParams& request) override {
    return engine_->Add(request);
  }
  bool HasUnfinished() const override { return engine_->HasUnfinished(); }
  void Schedule(StepPlan* plan) override {
    engine_->Schedule(plan);
    if (step_++ >= from_step_) Strike(plan);
    Remember(*plan);
  }
  void Complete(const StepPlan& plan, std::span<const int32_t> num_sampled,
                std::vector<RequestId>* finished) override {
    engine_->Complete(plan, num_sampled, finished);
  }
  Forked Fork(RequestId parent, const RequestParams& child) override {
    return engine_->Fork(parent, child);
  }
  void Drop(RequestId id) override { engine_->Drop(id); }
  RequestId WaitingHead() const override { return engine_->WaitingHead(); }
  RequestId AbortHead() override { return engine_->AbortHead(); }
  EngineCounts Counts() const override { return engine_->Counts(); }
  LedgerSnapshot Ledger() const override { return engine_->Ledger(); }
  int64_t NumOutputs(RequestId id) const override {
    return engine_->NumOutputs(id);
  }
  int NumGroups() const override { return engine_->NumGroups(); }
  std::span<const BlockId> BlockTable(RequestId id, int group) const override {
    const std::span<const BlockId> table = engine_->BlockTable(id, group);
    told_.assign(table.begin(), table.end());
    if (group == 0 && id == victim_) {
      for (size_t i = 0; i < told_.size(); ++i) {
        const auto wrong = wrong_.find(i);
        if (wrong != wrong_.end()) told_[i] = wrong->second;
      }
    }
    return told_;
  }
  std::vector<int64_t> CommonPrefixBlocks() const override {
    return engine_->CommonPrefixBlocks();
  }
  AllocatorState Inspect() const override { return engine_->Inspect(); }
  std::string CheckInvariants() const override {
    return engine_->CheckInvariants();
  }

 private:
  void Strike(StepPlan* plan) {
    if (struck_) return;
    switch (bug_) {
      case AllocatorBug::kNone:
        break;
      case AllocatorBug::kStaleFree:
        GiveOwnedBlock(*plan);
        break;
      case AllocatorBug::kStaleTable:
        KeepOldTable(*plan);
        break;
      case AllocatorBug::kLostCopy:
        LoseCopy(plan);
        break;
    }
  }

  // The last request admitted gets a block of the one that runs longest.
  void GiveOwnedBlock(const StepPlan& plan) {
    if (plan.admitted.empty() || plan.scheduled.size() < 2) return;
    const RequestId owner = plan.scheduled.front().id;
    const AdmittedRequest& last = plan.admitted.back();
    const std::span<const BlockId> owned = engine_->BlockTable(owner, 0);
    const size_t own = engine_->BlockTable(last.id, 0).size() - 1;
    if (owner == last.id || owned.empty() || owned[0] == kNullBlock) return;
    Tell(last.id, own, owned[0]);
  }

  void KeepOldTable(const StepPlan& plan) {
    for (const AdmittedRequest& resumed : plan.resumed) {
      const auto old = tables_.find(resumed.id);
      const std::span<const BlockId> now = engine_->BlockTable(resumed.id, 0);
      if (old == tables_.end()) continue;
      for (size_t i = 0; i < std::min(now.size(), old->second.size()); ++i) {
        if (old->second[i] != now[i]) Tell(resumed.id, i, old->second[i]);
      }
      if (struck_) return;
    }
  }

  void LoseCopy(StepPlan* plan) {
    for (size_t i = 0; i < plan->copies.size(); ++i) {
      const BlockCopy copy = plan->copies[i];
      if (copy.group != 0) continue;
      for (const ScheduledRequest& work : plan->scheduled) {
        const std::span<const BlockId> table = engine_->BlockTable(work.id, 0);
        const auto at = std::find(table.begin(), table.end(), copy.to);
        if (at == table.end()) continue;
        Tell(work.id, static_cast<size_t>(at - table.begin()), copy.from);
        plan->copies.erase(plan->copies.begin() +
                           static_cast<std::ptrdiff_t>(i));
        return;
      }
    }
  }

  void Tell(RequestId id, size_t entry, BlockId block) {
    struck_ = true;
    victim_ = id;
    wrong_[entry] = block;
  }

  void Remember(const StepPlan& plan) {
    if (bug_ != AllocatorBug::kStaleTable || struck_) return;
    for (const ScheduledRequest& work : plan.scheduled) {
      const std::span<const BlockId> table = engine_->BlockTable(work.id, 0);
      tables_[work.id].assign(table.begin(), table.end());
    }
  }

  Engine* engine_;
  const AllocatorBug bug_;
  const int64_t from_step_;
  int64_t step_ = 0;
  bool struck_ = false;
  RequestId victim_ = -1;
  std::map<size_t, BlockId> wrong_;  // entries of its table in group 0
  std::map<RequestId, std::vector<BlockId>> tables_;
  mutable std::vector<BlockId> told_;
};

}  // namespace kvsim

#endif  // KVSIM_TESTS_FAULTY_ENGINE_H_
