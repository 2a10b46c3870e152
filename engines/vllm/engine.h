// vLLM's v1 scheduler over the cache groups of a model.
//
// Model:      running requests first, in order, then the waiting queue, under a
//             token budget and a sequence limit. A running request that gets no
//             block preempts the last of running (or the least important) until
//             it fits; the victim loses its blocks, keeps its outputs and goes to
//             the front of the queue. The first waiting request that is refused
//             ends admission for the step.
// Asynchronous: the driver schedules the next batch before the last one's outputs
//             are known; outputs in flight are placeholders. A preempted request
//             waits, set aside, until its outputs in flight have drained.
// Swapping:   (PreemptionMode::kSwap, synchronous only) the victim's rows go to host
//             memory where there is room, else it is recomputed. What is swapped out
//             runs again before anything that waits is admitted, in the order of
//             recomputed requests: the last victim first, or by priority.
// Costs:      O(1) per scheduled decode; O(new blocks) per chunk; a refused head
//             O(1) while nothing it depends on changed.
// Source:     vllm/v1/core/sched/scheduler.py, async_scheduler.py (2026-08-17).
#ifndef KVSIM_ENGINES_VLLM_ENGINE_H_
#define KVSIM_ENGINES_VLLM_ENGINE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engines/cache_listener.h"
#include "engines/engine.h"
#include "engines/vllm/aligned_chunk.h"
#include "engines/vllm/kv_cache_manager.h"
#include "engines/vllm/request.h"
#include "engines/vllm/request_queue.h"
#include "engines/vllm/settings.h"

namespace kvsim::vllm {

class VllmEngine final : public Engine {
 public:
  static absl::StatusOr<std::unique_ptr<VllmEngine>> Create(
      const Settings& settings);

  Admission Add(const RequestParams& params) override;
  bool HasUnfinished() const override;
  void Schedule(StepPlan* plan) override;
  void Complete(const StepPlan& plan, std::span<const int32_t> num_sampled,
                std::vector<RequestId>* finished) override;
  Forked Fork(RequestId parent, const RequestParams& child) override;
  void Drop(RequestId id) override;
  RequestId WaitingHead() const override;
  RequestId AbortHead() override;

  EngineCounts Counts() const override;
  LedgerSnapshot Ledger() const override { return cache_.Ledger(); }
  LedgerSnapshot GroupLedger(int group) const override {
    return cache_.GroupLedger(static_cast<size_t>(group));
  }
  int64_t NumOutputs(RequestId id) const override;

  int NumGroups() const override {
    return static_cast<int>(cache_.num_groups());
  }
  std::span<const BlockId> BlockTable(RequestId id, int group) const override;
  std::vector<int64_t> CommonPrefixBlocks() const override;
  AllocatorState Inspect() const override;
  void SetCacheListener(CacheListener* listener) override;
  const HitRules* hit_rules() const override;
  std::string CheckInvariants() const override;

  const Settings& settings() const { return settings_; }
  const KvCacheManager& cache() const { return cache_; }

 private:
  explicit VllmEngine(const Settings& settings);

  Request* NewRequest(const RequestParams& params);

  // Scheduling; each returns or updates the tokens left in the budget.
  int64_t ScheduleRunning(StepPlan* plan);
  void ScheduleWaiting(int64_t budget, StepPlan* plan);
  int64_t RunnableTokens(const Request& request, int64_t budget) const;
  int64_t AlignChunk(const Request& request, int64_t start, int64_t n,
                     int64_t junction) const;
  Refusal Extend(Request* request, int64_t num_new);
  // Frees blocks by preemption until the request fits. False: it was its own
  // victim. `index` is its place in running_, kept up to date.
  bool MakeRoom(Request* request, int64_t num_new, size_t* index,
                int64_t* budget, StepPlan* plan);
  size_t PickVictim() const;
  void Preempt(Request* request, StepPlan* plan);
  // False: the mode is recompute, or host memory has no room.
  bool SwapOut(Request* request, StepPlan* plan);
  void TellRefused(const Request& request, AdmissionLimit limit);
  RequestQueue* SelectQueue();
  const RequestQueue* SelectQueue() const;
  // What keeps the head out, or kNoneWaiting after it was admitted.
  AdmissionLimit TryAdmit(Request* request, int64_t* budget, StepPlan* plan);
  // The same for a request that is swapped out.
  AdmissionLimit TrySwapIn(Request* request, int64_t* budget, StepPlan* plan);
  int64_t Watermark() const;
  void AdvanceComputed(StepPlan* plan);

  void RecordOutputs(Request* request, const ScheduledRequest& work,
                     int32_t sampled, std::vector<RequestId>* finished);
  bool Stopped(const Request& request) const;
  void Finish(Request* request, std::vector<RequestId>* finished);
  Request* Lookup(RequestId id) const;
  void Forget(Request* request);

  const Settings settings_;
  const bool aligns_chunks_;
  KvCacheManager cache_;
  const ChunkRules chunk_rules_;
  std::vector<Request*> running_;
  RequestQueue waiting_;
  RequestQueue set_aside_;  // preempted, outputs still in flight
  RequestQueue swapped_;    // preempted, rows in host memory
  CacheListener* listener_ = nullptr;
  std::vector<Request*> by_id_;
  std::vector<std::unique_ptr<Request>> storage_;
  std::vector<Request*> unused_;
  int64_t num_named_ = 0;  // requests ever
};

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_ENGINE_H_
