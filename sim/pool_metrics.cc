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

int64_t CheckpointBytes(const LedgerSnapshot& ledger) {
  return ledger[Account::kStateCheckpoint] + ledger[OfWhich::kIdleCheckpoints];
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
  NoteLedger(record, engine);
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
  totals_.forks = record.at_end.forks;
  totals_.forked_blocks = record.at_end.forked_blocks;
  totals_.fork_copies = record.at_end.fork_copies;
  totals_.dropped += static_cast<int64_t>(record.dropped.size());
  for (const ForkRecord& fork : record.forks) {
    if (!fork.runs) ++totals_.forks_waited;
  }
  totals_.checkpoints = record.at_end.checkpoints;
}

void PoolMetrics::NoteLedger(const StepRecord& record, const Engine& engine) {
  const int groups = engine.NumGroups() > 1 ? engine.NumGroups() : 0;
  last_.resize(1 + static_cast<size_t>(groups));
  sums_.resize(last_.size());
  last_[0] = engine.Ledger();
  for (int g = 0; g < groups; ++g) {
    last_[static_cast<size_t>(g) + 1] = engine.GroupLedger(g);
  }
  AddLedger(record.end_ns - record.start_ns);
  totals_.shared_peak =
      std::max(totals_.shared_peak, last_[0][OfWhich::kSharedRows]);
  totals_.saved_peak =
      std::max(totals_.saved_peak, last_[0][OfWhich::kSharingSaved]);
  totals_.checkpoint_peak =
      std::max(totals_.checkpoint_peak, CheckpointBytes(last_[0]));
  const int64_t held = HeldBytes(last_[0]);
  if (held <= held_peak_) return;
  held_peak_ = held;
  at_peak_ = last_;
  totals_.ledger_peak_ns = record.end_ns;
  totals_.ledger_peak_running = record.at_end.running;
}

void PoolMetrics::AddLedger(int64_t duration_ns) {
  for (size_t i = 0; i < last_.size(); ++i) sums_[i].Add(last_[i], duration_ns);
}

void LedgerSum::Add(const LedgerSnapshot& ledger, int64_t duration_ns) {
  for (size_t i = 0; i < kNumAccounts; ++i) {
    byte_ns_[i] += static_cast<__int128>(ledger.bytes[i]) * duration_ns;
  }
  for (size_t i = 0; i < kNumOfWhich; ++i) {
    of_which_ns_[i] += static_cast<__int128>(ledger.of_which[i]) * duration_ns;
  }
}

LedgerSnapshot LedgerSum::Mean(int64_t duration_ns) const {
  LedgerSnapshot mean;
  for (size_t i = 0; i < kNumAccounts; ++i) {
    mean.bytes[i] = RoundedMean(byte_ns_[i], duration_ns);
  }
  for (size_t i = 0; i < kNumOfWhich; ++i) {
    mean.of_which[i] = RoundedMean(of_which_ns_[i], duration_ns);
  }
  mean.pool_bytes = mean.Sum();
  return mean;
}

PoolSummary PoolMetrics::Summary() const {
  PoolSummary summary = totals_;
  const int64_t duration_ns = summary.DurationNs();
  summary.mean_running = Mean(running_ns_, duration_ns);
  summary.mean_waiting = Mean(waiting_ns_, duration_ns);
  if (last_.empty()) return summary;
  summary.ledger_peak = at_peak_[0];
  summary.ledger_mean = sums_[0].Mean(duration_ns);
  summary.ledger_mean.pool_bytes = last_[0].pool_bytes;
  for (size_t g = 1; g < last_.size(); ++g) {
    summary.groups.push_back({at_peak_[g], sums_[g].Mean(duration_ns)});
  }
  return summary;
}

}  // namespace kvsim
