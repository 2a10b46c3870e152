#include "sim/pool_metrics.h"

#include <algorithm>

namespace kvsim {
namespace {

double Mean(__int128 weighted, int64_t duration) {
  if (duration == 0) return 0;
  return static_cast<double>(weighted) / static_cast<double>(duration);
}

// The nearest integer; both are >= 0.
int64_t RoundedMean(__int128 weighted, int64_t duration) {
  if (duration == 0) return 0;
  return static_cast<int64_t>((weighted + duration / 2) / duration);
}

}  // namespace

int64_t HeldBytes(const LedgerSnapshot& ledger) {
  return ledger.pool_bytes - ledger[Account::kRemainder] -
         ledger[Account::kNull] - ledger[Account::kFree] -
         ledger[Account::kIdle];
}

void PoolMetrics::OnStep(const StepRecord& record, const Engine& engine) {
  if (totals_.steps == 0) {
    totals_.start_ns = record.start_ns;
    totals_.min_free_blocks = record.at_end.free_blocks;
  } else {
    const int64_t gap_ns = record.start_ns - totals_.end_ns;
    totals_.idle_ns += gap_ns;
    if (gap_ns > 0) AddLedger(gap_ns);
  }
  ++totals_.steps;
  totals_.end_ns = record.end_ns;
  NoteLevels(record);
  NoteLedger(record, engine.Ledger());
}

void PoolMetrics::NoteLevels(const StepRecord& record) {
  const int64_t duration_ns = record.end_ns - record.start_ns;
  const EngineCounts& counts =
      record.scheduled ? record.after_schedule : record.at_end;
  running_ns_ += static_cast<__int128>(counts.running) * duration_ns;
  waiting_ns_ += static_cast<__int128>(counts.waiting) * duration_ns;
  if (counts.running > totals_.peak_running) {
    totals_.peak_running = counts.running;
    totals_.peak_running_ns = record.start_ns;
  }
  totals_.peak_waiting = std::max(totals_.peak_waiting, counts.waiting);
  totals_.min_free_blocks =
      std::min(totals_.min_free_blocks, counts.free_blocks);
  const auto limit = static_cast<size_t>(record.plan != nullptr
                                             ? record.plan->limit
                                             : AdmissionLimit::kNoneWaiting);
  totals_.limit_ns[limit] += duration_ns;
  ++totals_.limit_steps[limit];
  if (record.plan == nullptr || record.plan->total_tokens == 0) {
    ++totals_.empty_steps;
  }
  totals_.allocations = record.at_end.allocations;
  totals_.evictions = record.at_end.evictions;
  totals_.evicted_keys = record.at_end.evicted_keys;
  totals_.cached_keys = record.at_end.cached_keys;
}

void PoolMetrics::NoteLedger(const StepRecord& record,
                             const LedgerSnapshot& ledger) {
  last_ = ledger;
  AddLedger(record.end_ns - record.start_ns);
  const int64_t held = HeldBytes(ledger);
  if (held <= held_peak_) return;
  held_peak_ = held;
  totals_.ledger_peak = ledger;
  totals_.ledger_peak_ns = record.end_ns;
  totals_.ledger_peak_running = record.at_end.running;
}

void PoolMetrics::AddLedger(int64_t duration_ns) {
  for (size_t i = 0; i < kNumAccounts; ++i) {
    byte_ns_[i] += static_cast<__int128>(last_.bytes[i]) * duration_ns;
  }
  for (size_t i = 0; i < kNumOfWhich; ++i) {
    of_which_ns_[i] += static_cast<__int128>(last_.of_which[i]) * duration_ns;
  }
}

PoolSummary PoolMetrics::Summary() const {
  PoolSummary summary = totals_;
  const int64_t duration_ns = summary.DurationNs();
  summary.mean_running = Mean(running_ns_, duration_ns);
  summary.mean_waiting = Mean(waiting_ns_, duration_ns);
  summary.ledger_mean.pool_bytes = last_.pool_bytes;
  for (size_t i = 0; i < kNumAccounts; ++i) {
    summary.ledger_mean.bytes[i] = RoundedMean(byte_ns_[i], duration_ns);
  }
  for (size_t i = 0; i < kNumOfWhich; ++i) {
    summary.ledger_mean.of_which[i] = RoundedMean(of_which_ns_[i], duration_ns);
  }
  return summary;
}

}  // namespace kvsim
