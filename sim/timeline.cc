#include "sim/timeline.h"

#include "absl/strings/str_cat.h"

namespace kvsim {

Timeline::Timeline(OutputFile* file) : file_(file) {
  line_ =
      "step,start_ns,end_ns,tokens,scheduled,running,waiting,free_blocks,"
      "admitted,resumed,preempted,finished,limit";
  for (size_t i = 0; i < kNumAccounts; ++i) {
    absl::StrAppend(&line_, ",", AccountName(static_cast<Account>(i)));
  }
  absl::StrAppend(&line_, "\n");
  file_->Write(line_);
}

void Timeline::OnStep(const StepRecord& record, const Engine& engine) {
  static const StepPlan kNoPlan;
  const StepPlan& plan = record.plan == nullptr ? kNoPlan : *record.plan;
  const EngineCounts& counts =
      record.scheduled ? record.after_schedule : record.at_end;
  line_.clear();
  absl::StrAppend(&line_, record.step, ",", record.start_ns, ",", record.end_ns,
                  ",", plan.total_tokens, ",");
  absl::StrAppend(&line_, plan.scheduled.size(), ",", counts.running, ",",
                  counts.waiting, ",", counts.free_blocks, ",");
  absl::StrAppend(&line_, plan.admitted.size(), ",", plan.resumed.size(), ",",
                  plan.preempted.size(), ",", record.finished.size(), ",");
  absl::StrAppend(&line_, AdmissionLimitName(plan.limit));
  for (const int64_t bytes : engine.Ledger().bytes) {
    absl::StrAppend(&line_, ",", bytes);
  }
  absl::StrAppend(&line_, "\n");
  file_->Write(line_);
}

}  // namespace kvsim
