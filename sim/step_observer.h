// What a simulation tells its listeners: one record per engine step.
//
// Model:      metrics, recorders and timelines are observers of one loop; none of
//             them changes a decision. A step is one Schedule() (skipped when an
//             asynchronous engine only drains) and at most one Complete().
// Units:      nanoseconds of model time; tokens; blocks.
// Ownership:  spans and pointers are valid during the call only.
#ifndef KVSIM_SIM_STEP_OBSERVER_H_
#define KVSIM_SIM_STEP_OBSERVER_H_

#include <cstdint>
#include <span>

#include "engines/engine.h"
#include "traces/trace_request.h"

namespace kvsim {

class RequestTokens;  // traces/request_tokens.h

// One more sequence of a row, begun at the end of a step.
struct ForkRecord {
  RequestId parent = 0;
  RequestId child = 0;
  bool runs = false;  // false: it waits
};

struct StepRecord {
  int64_t step = 0;                    // from 0, in the order of execution
  int64_t start_ns = 0;                // model time before the step
  int64_t end_ns = 0;                  // model time after it
  bool scheduled = false;              // false: drained an earlier batch only
  std::span<const RequestId> arrived;  // queued just before this step
  const StepPlan* plan = nullptr;      // null when !scheduled
  EngineCounts after_schedule;         // when scheduled
  // The batch whose outputs were processed in this step (the plan itself when
  // synchronous, an older one when asynchronous); null when none was.
  const StepPlan* processed = nullptr;
  std::span<const int32_t> num_sampled;  // parallel to processed->scheduled,
                                         // after cutting at max_tokens
  std::span<const RequestId> finished;
  std::span<const RequestId> aborted;  // can never fit
  // Beams that lost; a fork of the same step may have the name of one.
  std::span<const RequestId> dropped;
  std::span<const ForkRecord> forks;
  EngineCounts at_end;
};

// A row of the trace reaching the engine. With several sequences a row, sequence k
// of row r has the id r·width + k; a row whose sequences are requests of their own
// from the start has an arrival for each, the first one first.
struct ArrivalRecord {
  RequestId id = 0;
  int64_t due_ns = 0;   // when it came: waiting starts here
  int64_t time_ns = 0;  // when the driver queued it: the start of a step
  const TraceRequest* row = nullptr;
  int64_t max_tokens = 0;  // outputs it will give: min of the row's output
                           // and what the model's length leaves, at least 1
  bool queued = false;     // false: longer than the model allows
  const RequestTokens* tokens = nullptr;  // what its prompt and outputs are
};

class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void OnArrival(const ArrivalRecord&) {}
  // Before anything of the step happens; the engine has what arrived.
  virtual void OnStepStart(int64_t /*step*/, int64_t /*now_ns*/,
                           const Engine&) {}
  // Right after Schedule(): tables are as the batch will see them.
  virtual void OnSchedule(const StepPlan&, const Engine&) {}
  virtual void OnStep(const StepRecord& record, const Engine& engine) = 0;
};

}  // namespace kvsim

#endif  // KVSIM_SIM_STEP_OBSERVER_H_
