#include "sim/preemption_metrics.h"

#include <algorithm>

namespace kvsim {

void PreemptionMetrics::OnStep(const StepRecord& record, const Engine&) {
  if (record.plan == nullptr) return;
  NoteSwaps(*record.plan);
  NoteRecomputed(record);
  totals_.peak_host_bytes =
      std::max(totals_.peak_host_bytes,
               record.after_schedule.host_blocks * link_.block_bytes);
}

void PreemptionMetrics::NoteSwaps(const StepPlan& plan) {
  const auto swaps = static_cast<int64_t>(plan.swapped_out.size());
  totals_.by_swap += swaps;
  totals_.by_recompute += static_cast<int64_t>(plan.preempted.size()) - swaps;
  totals_.bytes_out += link_.BytesOf(plan.swapped_out);
  totals_.bytes_in += link_.BytesOf(plan.swapped_in);
  totals_.transfer_ns += link_.StepNs(plan);
  for (const SwappedRequest& swap : plan.swapped_out) {
    totals_.swapped_tokens += swap.num_tokens;
  }
}

void PreemptionMetrics::NoteRecomputed(const StepRecord& record) {
  const int64_t recomputed = requests_->recomputed_tokens();
  const int64_t now = recomputed - recomputed_before_;
  recomputed_before_ = recomputed;
  if (now == 0 || record.processed != record.plan) return;
  const int64_t step_ns =
      record.end_ns - record.start_ns - link_.StepNs(*record.plan);
  totals_.recompute_ns +=
      static_cast<int64_t>(__int128{step_ns} * now / record.plan->total_tokens);
}

}  // namespace kvsim
