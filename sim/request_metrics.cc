#include "sim/request_metrics.h"

#include <algorithm>

namespace kvsim {

void RequestMetrics::OnArrival(const ArrivalRecord& arrival) {
  ++totals_.requests;
  if (!arrival.queued) {
    ++totals_.too_long;
    return;
  }
  const auto index = static_cast<size_t>(arrival.id);
  if (states_.size() <= index) states_.resize(index + 1);
  State& state = states_[index];
  state.arrival_ns = arrival.due_ns;
  state.prompt = arrival.row->input_length;
}

void RequestMetrics::OnStep(const StepRecord& record, const Engine&) {
  if (record.plan != nullptr) {
    NoteAdmissions(record);
    NoteScheduled(*record.plan);
  }
  if (record.processed != nullptr) NoteOutputs(record);
  NoteFinished(record);
}

void RequestMetrics::NoteAdmissions(const StepRecord& record) {
  const StepPlan& plan = *record.plan;
  for (const RequestId id : plan.preempted) {
    State& state = Of(id);
    ++totals_.preemptions;
    if (!state.preempted) ++totals_.requests_preempted;
    state.preempted = true;
  }
  for (const AdmittedRequest& admitted : plan.admitted) {
    State& state = Of(admitted.id);
    state.waiting_ns = record.start_ns - state.arrival_ns;
    ++totals_.admitted;
    totals_.prompt_tokens += state.prompt;
    totals_.hit_tokens += admitted.hit_tokens;
  }
  for (const AdmittedRequest& resumed : plan.resumed) {
    State& state = Of(resumed.id);
    totals_.resume_hit_tokens += resumed.hit_tokens;
    // The last output was sampled but its row never computed.
    state.lost_end = std::max(
        state.lost_end, state.outputs > 0 ? state.prompt + state.outputs - 1
                                          : state.computed_end);
  }
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
    State& state = Of(scheduled[i].id);
    state.outputs += record.num_sampled[i];
    totals_.output_tokens += record.num_sampled[i];
    if (state.first_token_ns == kNone) state.first_token_ns = record.end_ns;
  }
}

void RequestMetrics::NoteFinished(const StepRecord& record) {
  totals_.aborted += static_cast<int64_t>(record.aborted.size());
  for (const RequestId id : record.finished) {
    const State& state = Of(id);
    const int64_t ttft = state.first_token_ns - state.arrival_ns;
    const int64_t e2e = record.end_ns - state.arrival_ns;
    int64_t tpot = 0;
    if (state.outputs > 1) {
      tpot = (record.end_ns - state.first_token_ns) / (state.outputs - 1);
      tpot_ns_.push_back(tpot);
    }
    ++totals_.finished;
    waiting_ns_.push_back(state.waiting_ns);
    ttft_ns_.push_back(ttft);
    e2e_ns_.push_back(e2e);
    if (slo_.Met(ttft, tpot, e2e)) {
      ++totals_.slo_requests;
      totals_.slo_output_tokens += state.outputs;
    }
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
