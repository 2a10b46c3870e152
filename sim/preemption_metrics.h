// What preemptions cost, in the currency of each kind.
//
// Model:      a swap costs bytes out, bytes in and the time of both; a recompute
//             costs tokens, and the share of their steps' time that they are of
//             those steps' tokens. The share is an attribution, not a difference: a
//             step without them would have been shorter by less or more.
//             A token counts as recomputed as in sim/request_metrics.h.
// Units:      bytes of one rank; nanoseconds.
// Costs:      a few ns per scheduled request.
#ifndef KVSIM_SIM_PREEMPTION_METRICS_H_
#define KVSIM_SIM_PREEMPTION_METRICS_H_

#include <cstdint>

#include "sim/host_link.h"
#include "sim/request_metrics.h"
#include "sim/step_observer.h"

namespace kvsim {

struct PreemptionSummary {
  int64_t by_recompute = 0;
  int64_t by_swap = 0;
  int64_t bytes_out = 0;
  int64_t bytes_in = 0;
  int64_t swapped_tokens = 0;  // computed tokens that went out
  int64_t transfer_ns = 0;
  int64_t peak_host_bytes = 0;
  int64_t recompute_ns = 0;  // of synchronous steps only
};

class PreemptionMetrics final : public StepObserver {
 public:
  // `requests` sees each step before this does, and outlives it.
  PreemptionMetrics(const HostLink& link, const RequestMetrics* requests)
      : link_(link), requests_(requests) {}

  void OnStep(const StepRecord& record, const Engine& engine) override;

  const PreemptionSummary& Summary() const { return totals_; }

 private:
  void NoteSwaps(const StepPlan& plan);
  void NoteRecomputed(const StepRecord& record);

  const HostLink link_;
  const RequestMetrics* requests_;
  int64_t recomputed_before_ = 0;
  PreemptionSummary totals_;
};

}  // namespace kvsim

#endif  // KVSIM_SIM_PREEMPTION_METRICS_H_
