// The same trace on an engine without paging, so that paging's gain is a number.
//
// Model:      one run of engines/contiguous per Reservation, synchronous and
//             without prefix cache, with the token capacity, limits and cost
//             model of the paged run. Four shares of the pool, averaged over
//             time, sum to 1 with `used`:
//             used        rows that are computed or in this step's batch
//             later       reserved, and will be written before the request ends
//             never_used  reserved, never written: internal fragmentation
//             free        holes
//             `external` is the part of `free` that was there, in holes too
//             short, while the head of the queue waited for a hole.
// Costs:      a replay each.
#ifndef KVSIM_SIM_CONTIGUOUS_BASELINE_H_
#define KVSIM_SIM_CONTIGUOUS_BASELINE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "engines/contiguous/contiguous_engine.h"
#include "sim/cost_model.h"
#include "sim/simulator.h"
#include "sim/step_observer.h"
#include "traces/trace_reader.h"

namespace kvsim {

struct ContiguousSummary {
  Reservation reservation = Reservation::kMaxLength;
  int64_t finished = 0;
  int64_t never_fit = 0;
  int64_t duration_ns = 0;
  int64_t peak_running = 0;
  double mean_running = 0;
  double used = 0;
  double later = 0;
  double never_used = 0;
  double free = 0;
  double external = 0;
};

// Averages what a ContiguousEngine wastes. `engine` must be the one it watches.
class ContiguousMetrics final : public StepObserver {
 public:
  explicit ContiguousMetrics(const ContiguousEngine* engine)
      : engine_(engine) {}

  void OnSchedule(const StepPlan& plan, const Engine& engine) override;
  void OnStep(const StepRecord& record, const Engine& engine) override;

  ContiguousSummary Summary() const;

 private:
  // Levels of the pool, in tokens.
  struct Levels {
    int64_t used = 0;
    int64_t later = 0;
    int64_t never_used = 0;
    int64_t free = 0;
    int64_t external = 0;
  };
  void Weigh(const Levels& levels, int64_t duration_ns);
  Levels Now(bool head_refused) const;

  const ContiguousEngine* engine_;
  Levels scheduled_;  // right after scheduling: true for the step
  bool started_ = false;
  int64_t start_ns_ = 0;
  int64_t end_ns_ = 0;
  int64_t finished_ = 0;
  int64_t peak_running_ = 0;
  __int128 running_ns_ = 0;
  __int128 used_ns_ = 0, later_ns_ = 0, never_used_ns_ = 0, free_ns_ = 0,
           external_ns_ = 0;
};

// Replays the whole trace. `options` must be synchronous without speculation.
absl::StatusOr<ContiguousSummary> RunContiguous(
    const ContiguousSettings& settings, const SimulatorOptions& options,
    CostModel* cost, TraceReader* trace, const bool* stop = nullptr);

}  // namespace kvsim

#endif  // KVSIM_SIM_CONTIGUOUS_BASELINE_H_
