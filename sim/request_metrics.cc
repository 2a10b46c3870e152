#include "sim/request_metrics.h"

#include <algorithm>

namespace kvsim {

void RequestMetrics::OnArrival(const ArrivalRecord& arrival) {
  const bool first = arrival.id % width_ == 0;
  if (first) ++totals_.requests;
  if (!arrival.queued) {
    if (first) ++totals_.too_long;
    return;
  }
  const auto row = static_cast<size_t>(arrival.id / width_);
  if (rows_.size() <= row) {
    rows_.resize(row + 1);
    states_.resize((row + 1) * static_cast<size_t>(width_));
  }
  rows_[row].arrival_ns = arrival.due_ns;
  ++rows_[row].open;
  Of(arrival.id).prompt = arrival.row->input_length;
}

void RequestMetrics::OnStep(const StepRecord& record, const Engine&) {
  if (record.plan != nullptr) {
    NoteAdmissions(record);
    NoteScheduled(*record.plan);
  }
  if (record.processed != nullptr) NoteOutputs(record);
  NoteForks(record);
  NoteEnded(record);
}

void RequestMetrics::NoteAdmissions(const StepRecord& record) {
  const StepPlan& plan = *record.plan;
  for (const RequestId id : plan.preempted) {
    Row& row = RowOf(id);
    ++totals_.preemptions;
    if (!row.preempted) ++totals_.requests_preempted;
    row.preempted = true;
  }
  for (const AdmittedRequest& admitted : plan.admitted) {
    if (Of(admitted.id).forked) {
      NoteResumed(admitted);
    } else {
      NoteAdmitted(admitted, record.start_ns);
    }
  }
  for (const AdmittedRequest& resumed : plan.resumed) NoteResumed(resumed);
}

void RequestMetrics::NoteAdmitted(const AdmittedRequest& admitted,
                                  int64_t start_ns) {
  Row& row = RowOf(admitted.id);
  if (row.waiting_ns == kNone) {
    row.waiting_ns = start_ns - row.arrival_ns;
    ++totals_.admitted;
  }
  totals_.prompt_tokens += Of(admitted.id).prompt;
  totals_.hit_tokens += admitted.hit_tokens;
}

void RequestMetrics::NoteResumed(const AdmittedRequest& resumed) {
  State& state = Of(resumed.id);
  totals_.resume_hit_tokens += resumed.hit_tokens;
  // The last output was sampled but its row never computed.
  state.lost_end = std::max(state.lost_end,
                            state.outputs > 0 ? state.prompt + state.outputs - 1
                                              : state.computed_end);
}

void RequestMetrics::NoteScheduled(const StepPlan& plan) {
  totals_.scheduled_requests += static_cast<int64_t>(plan.scheduled.size());
  totals_.scheduled_tokens += plan.total_tokens;
  for (const ScheduledRequest& work : plan.scheduled) {
    State& state = Of(work.id);
    const int64_t end = work.first_token + work.num_tokens - work.num_drafts;
    totals_.draft_tokens += work.num_drafts;
    state.computed_end = end;
    if (work.first_token < state.lost_end) {
      totals_.recomputed_tokens +=
          std::min(end, state.lost_end) - work.first_token;
    }
  }
}

void RequestMetrics::NoteOutputs(const StepRecord& record) {
  const auto& scheduled = record.processed->scheduled;
  for (size_t i = 0; i < scheduled.size(); ++i) {
    if (record.num_sampled[i] == 0) continue;
    const RequestId id = scheduled[i].id;
    Row& row = RowOf(id);
    Of(id).outputs += record.num_sampled[i];
    row.outputs += record.num_sampled[i];
    totals_.output_tokens += record.num_sampled[i];
    if (row.first_token_ns == kNone) row.first_token_ns = record.end_ns;
  }
}

void RequestMetrics::NoteForks(const StepRecord& record) {
  for (const RequestId id : record.dropped) --RowOf(id).open;
  for (const ForkRecord& fork : record.forks) {
    State& child = Of(fork.child);
    child = Of(fork.parent);
    child.lost_end = 0;
    child.forked = true;
    Row& row = RowOf(fork.child);
    ++row.open;
    ++row.outputs;
    ++totals_.output_tokens;
  }
}

void RequestMetrics::NoteEnded(const StepRecord& record) {
  for (const RequestId id : record.finished) {
    Row& row = RowOf(id);
    if (--row.open > 0) continue;
    if (row.failed) {
      ++totals_.aborted;
    } else {
      NoteFinished(row, Of(id).outputs, record.end_ns);
    }
  }
  for (const RequestId id : record.aborted) {
    Row& row = RowOf(id);
    row.failed = true;
    if (--row.open == 0) ++totals_.aborted;
  }
}

// `outputs`: of the sequence that ended last.
void RequestMetrics::NoteFinished(const Row& row, int64_t outputs,
                                  int64_t end_ns) {
  const int64_t ttft = row.first_token_ns - row.arrival_ns;
  const int64_t e2e = end_ns - row.arrival_ns;
  int64_t tpot = 0;
  if (outputs > 1) {
    tpot = (end_ns - row.first_token_ns) / (outputs - 1);
    tpot_ns_.push_back(tpot);
  }
  ++totals_.finished;
  waiting_ns_.push_back(row.waiting_ns);
  ttft_ns_.push_back(ttft);
  e2e_ns_.push_back(e2e);
  if (slo_.Met(ttft, tpot, e2e)) {
    ++totals_.slo_requests;
    totals_.slo_output_tokens += row.outputs;
  }
}

RequestSummary RequestMetrics::Summary() const {
  RequestSummary summary = totals_;
  summary.waiting = Distribution::Of(waiting_ns_);
  summary.ttft = Distribution::Of(ttft_ns_);
  summary.tpot = Distribution::Of(tpot_ns_);
  summary.e2e = Distribution::Of(e2e_ns_);
  return summary;
}

}  // namespace kvsim
