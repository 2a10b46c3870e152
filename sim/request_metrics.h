// What each request of a run experienced.
//
// Model:      waiting   arrival to the first step that scheduled it
//             TTFT      arrival to the end of the step that gave its first token
//             TPOT      (last token - first token) / (outputs - 1), rounded down
//                       to a ns; only requests with two outputs or more have one
//             end to end arrival to last token
//             Only finished requests enter these distributions. A token is
//             recomputed when its row was computed before, lost to a preemption
//             and not found in the prefix cache at the resume.
// Sequences:  a row is one request, whatever it becomes: it waits until its first
//             sequence is scheduled, its first token is the first of any, it ends
//             with its last sequence, and it has failed when one of them did.
//             Tokens are those of all sequences; a fork adds the one that its child
//             begins with. A fork that waits is no admission; what it hits and
//             computes again counts as after a preemption.
// Memory:     80 B per request of the trace, 8 B per time kept.
// Costs:      a few ns per scheduled request.
#ifndef KVSIM_SIM_REQUEST_METRICS_H_
#define KVSIM_SIM_REQUEST_METRICS_H_

#include <cstdint>
#include <vector>

#include "sim/distribution.h"
#include "sim/slo.h"
#include "sim/step_observer.h"

namespace kvsim {

struct RequestSummary {
  int64_t requests = 0;  // rows that reached the engine, too long ones included
  int64_t too_long = 0;  // prompt at or beyond the engine's maximum length
  int64_t aborted = 0;   // queued, but larger than the whole pool
  int64_t admitted = 0;  // scheduled at least once
  int64_t finished = 0;
  int64_t preemptions = 0;
  int64_t requests_preempted = 0;  // at least once

  int64_t prompt_tokens = 0;      // of admitted requests
  int64_t hit_tokens = 0;         // served from the cache at first admissions
  int64_t resume_hit_tokens = 0;  // the same at resumes
  int64_t recomputed_tokens = 0;
  int64_t scheduled_requests = 0;  // Σ over steps
  int64_t scheduled_tokens = 0;    // Σ over steps, drafts included
  int64_t draft_tokens = 0;
  int64_t output_tokens = 0;

  int64_t slo_requests = 0;       // finished within the SLO
  int64_t slo_output_tokens = 0;  // their outputs

  Distribution waiting;
  Distribution ttft;
  Distribution tpot;
  Distribution e2e;

  int64_t NeverFit() const { return too_long + aborted; }
};

class RequestMetrics final : public StepObserver {
 public:
  // `width`: Sequences::width of the run.
  explicit RequestMetrics(const Slo& slo, int64_t width = 1)
      : slo_(slo), width_(static_cast<RequestId>(width)) {}

  void OnArrival(const ArrivalRecord& arrival) override;
  void OnStep(const StepRecord& record, const Engine& engine) override;

  // Of what has happened so far; may be called at any time.
  RequestSummary Summary() const;
  int64_t recomputed_tokens() const { return totals_.recomputed_tokens; }

 private:
  static constexpr int64_t kNone = -1;

  struct Row {
    int64_t arrival_ns = 0;
    int64_t waiting_ns = kNone;
    int64_t first_token_ns = kNone;
    int64_t outputs = 0;  // of all sequences
    int32_t open = 0;     // sequences that have not ended
    bool preempted = false;
    bool failed = false;
  };
  struct State {  // of a sequence
    int64_t prompt = 0;
    int64_t outputs = 0;
    int64_t computed_end = 0;  // behind the last scheduled row, drafts aside
    int64_t lost_end = 0;      // rows below it were computed before
    bool forked = false;
  };

  State& Of(RequestId id) { return states_[static_cast<size_t>(id)]; }
  Row& RowOf(RequestId id) { return rows_[static_cast<size_t>(id / width_)]; }
  void NoteAdmissions(const StepRecord& record);
  void NoteAdmitted(const AdmittedRequest& admitted, int64_t start_ns);
  void NoteResumed(const AdmittedRequest& resumed);
  void NoteScheduled(const StepPlan& plan);
  void NoteOutputs(const StepRecord& record);
  void NoteForks(const StepRecord& record);
  void NoteEnded(const StepRecord& record);
  void NoteFinished(const Row& row, int64_t outputs, int64_t end_ns);

  Slo slo_;
  RequestId width_;  // 32 bits: divides fast
  std::vector<Row> rows_;
  std::vector<State> states_;
  RequestSummary totals_;  // all but the distributions
  std::vector<int64_t> waiting_ns_, ttft_ns_, tpot_ns_, e2e_ns_;
};

}  // namespace kvsim

#endif  // KVSIM_SIM_REQUEST_METRICS_H_
