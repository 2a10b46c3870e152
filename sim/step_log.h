// A run written down step by step, in the form of vLLM's recorded decisions.
//
// Model:      one JSON object for each step (what was scheduled, admitted,
//             preempted, allocated, evicted, and check sums over the whole
//             allocator state), then one for each request and a summary. With
//             it a replay is compared with a real scheduler, field by field.
//   step      step, now_us (after the step), arrived; when something was
//             scheduled: tokens, nsched, running, waiting, free (after
//             scheduling), new and resumed ([id, hit tokens]), preempted, and in
//             detail mode sched ([id, tokens]), blocks ({id: [new ids per
//             group]}), ncommon, swapped_out and swapped_in ([id, computed tokens,
//             blocks]; absent when none), cow ([from, to]; absent when none); then
//             finished, aborted, forked ([parent, child, 1: it runs]) and dropped
//             (both absent when none), free_end, running_end, waiting_end, alloc,
//             evict, evict_hashes, cached_keys, crc.
//   req       arrive, first, done (step numbers), hit, pre, rehit.
//   crc       CRC-32 of int32 little-endian: free queue, reference counts, has
//             key, tables of the running requests.
// Costs:      O(blocks) a step when check sums are on.
// Ownership:  calls `sink` with each line's object; keeps nothing but counters.
#ifndef KVSIM_SIM_STEP_LOG_H_
#define KVSIM_SIM_STEP_LOG_H_

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "nlohmann/json.hpp"
#include "sim/step_observer.h"

namespace kvsim {

struct StepLogOptions {
  bool detail = false;      // sched, blocks, ncommon
  bool check_sums = true;   // crc
  bool cache_stats = true;  // false: caching is off, its statistics stay 0
  int64_t every = 1;        // only steps that are multiples of this
};

class StepLog final : public StepObserver {
 public:
  using Json = nlohmann::ordered_json;
  using Sink = std::function<void(const Json&)>;

  StepLog(const StepLogOptions& options, Sink sink);

  void OnArrival(const ArrivalRecord& arrival) override;
  void OnSchedule(const StepPlan& plan, const Engine& engine) override;
  void OnStep(const StepRecord& record, const Engine& engine) override;
  // Writes the request lines and the summary. Call once, after the run.
  void Finish(const Engine& engine, int64_t now_ns);

 private:
  struct RequestLine {
    int64_t arrive = 0, first = -1, hit = 0, done = -1, preemptions = 0;
    int64_t prompt = 0, outputs = 0;
    std::vector<int64_t> rehits;
  };

  void NoteBlocks(const StepPlan& plan, const Engine& engine);
  void AddBlocks(RequestId id, const Engine& engine);
  void NoteRequests(const StepRecord& record);
  void NoteForks(const StepRecord& record);
  void NoteTotals(const StepRecord& record);
  Json StepLine(const StepRecord& record, const Engine& engine) const;
  Json CacheStats() const;
  void AddScheduled(const StepRecord& record, Json* line) const;

  const StepLogOptions options_;
  const Sink sink_;
  std::map<RequestId, RequestLine> requests_;
  std::vector<RequestId> rejected_;
  std::vector<RequestId> arriving_;

  // Of the step being scheduled (detail mode).
  Json blocks_, common_;
  std::map<RequestId, std::vector<size_t>> table_lengths_;

  EngineCounts before_;  // at the end of the step before
  int64_t steps_ = 0, scheduled_tokens_ = 0, scheduled_requests_ = 0;
  int64_t hit_tokens_ = 0, resumed_hit_tokens_ = 0, preemptions_ = 0;
  int64_t resumed_ = 0, admitted_ = 0, finished_ = 0, aborted_ = 0;
  int64_t generated_ = 0, peak_running_ = 0, min_free_ = -1;
  int64_t queries_ = 0, resumed_queries_ = 0;
};

}  // namespace kvsim

#endif  // KVSIM_SIM_STEP_LOG_H_
