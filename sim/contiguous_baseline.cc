#include "sim/contiguous_baseline.h"

#include <algorithm>

#include "base/check.h"
#include "sim/request_metrics.h"

namespace kvsim {

void ContiguousMetrics::OnSchedule(const StepPlan& plan, const Engine&) {
  scheduled_ = Now(plan.limit == AdmissionLimit::kBlocks);
}

void ContiguousMetrics::OnStep(const StepRecord& record, const Engine&) {
  if (!started_) start_ns_ = end_ns_ = record.start_ns;
  started_ = true;
  // Between steps nothing is unfinished and the pool is empty.
  Levels idle;
  idle.free = engine_->reserver().capacity();
  Weigh(idle, record.start_ns - end_ns_);
  const int64_t duration_ns = record.end_ns - record.start_ns;
  Weigh(scheduled_, duration_ns);
  const int64_t running = record.after_schedule.running;
  running_ns_ += static_cast<__int128>(running) * duration_ns;
  peak_running_ = std::max(peak_running_, running);
  finished_ += static_cast<int64_t>(record.finished.size());
  end_ns_ = record.end_ns;
}

ContiguousMetrics::Levels ContiguousMetrics::Now(bool head_refused) const {
  const ContiguousReserver& reserver = engine_->reserver();
  const LedgerSnapshot ledger = engine_->Ledger();
  const int64_t row_bytes = ledger.pool_bytes / reserver.capacity();
  Levels levels;
  levels.used =
      (ledger[Account::kLive] + ledger[Account::kInFlight]) / row_bytes;
  levels.never_used = engine_->NeverUsed();
  levels.later = ledger[Account::kTailSlack] / row_bytes - levels.never_used;
  levels.free = reserver.free();
  levels.external = head_refused ? levels.free : 0;
  return levels;
}

void ContiguousMetrics::Weigh(const Levels& levels, int64_t duration_ns) {
  used_ns_ += static_cast<__int128>(levels.used) * duration_ns;
  later_ns_ += static_cast<__int128>(levels.later) * duration_ns;
  never_used_ns_ += static_cast<__int128>(levels.never_used) * duration_ns;
  free_ns_ += static_cast<__int128>(levels.free) * duration_ns;
  external_ns_ += static_cast<__int128>(levels.external) * duration_ns;
}

ContiguousSummary ContiguousMetrics::Summary() const {
  ContiguousSummary summary;
  summary.finished = finished_;
  summary.peak_running = peak_running_;
  summary.duration_ns = end_ns_ - start_ns_;
  if (summary.duration_ns == 0) return summary;
  const auto duration = static_cast<double>(summary.duration_ns);
  const double token_ns =
      duration * static_cast<double>(engine_->reserver().capacity());
  summary.mean_running = static_cast<double>(running_ns_) / duration;
  summary.used = static_cast<double>(used_ns_) / token_ns;
  summary.later = static_cast<double>(later_ns_) / token_ns;
  summary.never_used = static_cast<double>(never_used_ns_) / token_ns;
  summary.free = static_cast<double>(free_ns_) / token_ns;
  summary.external = static_cast<double>(external_ns_) / token_ns;
  return summary;
}

absl::StatusOr<ContiguousSummary> RunContiguous(
    const ContiguousSettings& settings, const SimulatorOptions& options,
    CostModel* cost, TraceReader* trace, const bool* stop) {
  KVSIM_CHECK(!options.asynchronous && options.num_speculative_tokens == 0);
  ContiguousEngine engine(settings);
  Simulator simulator(&engine, cost, options);
  ContiguousMetrics metrics(&engine);
  RequestMetrics requests({});
  simulator.AddObserver(&metrics);
  simulator.AddObserver(&requests);
  const absl::Status status = simulator.Run(trace, stop);
  if (!status.ok()) return status;
  ContiguousSummary summary = metrics.Summary();
  summary.reservation = settings.reservation;
  summary.never_fit = requests.Summary().NeverFit();
  return summary;
}

}  // namespace kvsim
