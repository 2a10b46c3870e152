// vLLM's scheduler told plainly: the naive twin of VllmEngine, for tests.
//
// Model:      the same Engine interface, so that one driver runs both and compares
//             every decision. Requests live in a std::map, queues are lists of
//             ids, the head of a priority queue is searched for, tables and ledger
//             are NaiveCache's. No memo, no counts kept ahead.
// Ownership:  reads RequestParams::keys as a TokenChain, at Add() only.
// Source:     the rules of vLLM (2026-08-17) as told beside its recorded
//             runs; not the code it is compared with.
#ifndef KVSIM_ENGINES_VLLM_NAIVE_ENGINE_H_
#define KVSIM_ENGINES_VLLM_NAIVE_ENGINE_H_

#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "engines/vllm/naive_cache.h"
#include "engines/vllm/naive_rules.h"
#include "engines/vllm/settings.h"

namespace kvsim::vllm {

class NaiveEngine final : public Engine {
 public:
  // REQUIRES: settings.Normalized().ok().
  explicit NaiveEngine(const Settings& settings,
                       NaiveMistake mistake = NaiveMistake::kNone);

  Admission Add(const RequestParams& params) override;
  bool HasUnfinished() const override { return !requests_.empty(); }
  void Schedule(StepPlan* plan) override;
  void Complete(const StepPlan& plan, std::span<const int32_t> num_sampled,
                std::vector<RequestId>* finished) override;
  Forked Fork(RequestId parent, const RequestParams& child) override;
  void Drop(RequestId id) override;
  RequestId WaitingHead() const override;
  RequestId AbortHead() override;

  EngineCounts Counts() const override;
  LedgerSnapshot Ledger() const override;
  LedgerSnapshot GroupLedger(int group) const override;
  int64_t NumOutputs(RequestId id) const override;
  int NumGroups() const override {
    return static_cast<int>(settings_.groups.size());
  }
  std::span<const BlockId> BlockTable(RequestId id, int group) const override;
  std::vector<int64_t> CommonPrefixBlocks() const override;
  AllocatorState Inspect() const override;
  std::string CheckInvariants() const override;

 private:
  using Queue = std::list<RequestId>;

  std::vector<const NaiveCache::Holder*> Holders() const;

  struct Request {
    RequestParams params;
    int64_t outputs = 0;            // recorded
    int64_t outputs_in_flight = 0;  // asynchronous: scheduled, not recorded
    int64_t computed = 0;           // advanced when scheduled
    int64_t in_flight = 0;          // of those, results not yet seen
    int64_t drafts = 0;             // for its next step
    uint32_t preemptions = 0;
    NaiveCache::Holder held;

    int64_t known() const { return params.num_prompt_tokens + outputs; }
  };

  Request& NewRequest(const RequestParams& params);
  void ScheduleRunning(StepPlan* plan);
  int64_t Runnable(const Request& request) const;
  bool GetSlots(Request* request, int64_t num_new, StepPlan* plan);
  RequestId Victim() const;
  void Preempt(RequestId id, StepPlan* plan);
  AdmissionLimit AdmitWaiting(StepPlan* plan);
  AdmissionLimit TryAdmit(Request* request, StepPlan* plan);
  AdmissionLimit TrySwapIn(Request* request, StepPlan* plan);
  int64_t Room() const;
  void Advance(StepPlan* plan);
  void Record(Request* request, const ScheduledRequest& work, int64_t sampled);

  Queue* NextQueue();
  RequestId Head(const Queue& queue) const;
  bool Before(RequestId a, RequestId b) const;
  bool IsRunning(RequestId id) const;
  int64_t AlignedChunk(const Request& request, int64_t start, int64_t n,
                       int64_t junction) const;

  const Settings settings_;
  const NaiveRules rules_;
  NaiveCache cache_;
  std::map<RequestId, Request> requests_;
  Queue running_, waiting_;
  Queue set_aside_;  // preempted, outputs still in flight
  Queue swapped_;    // preempted, rows in host memory
  int64_t budget_ = 0;
};

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_NAIVE_ENGINE_H_
