#include "sim/timeline.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/timeline_row.h"

namespace kvsim {

Timeline::Timeline(OutputFile* file) : file_(file) {
  line_ = absl::StrCat(absl::StrJoin(kTimelineCounts, ","), ",limit");
  for (size_t i = 0; i < kNumAccounts; ++i) {
    absl::StrAppend(&line_, ",", AccountName(static_cast<Account>(i)));
  }
  absl::StrAppend(&line_, "\n");
  file_->Write(line_);
}

void Timeline::OnStep(const StepRecord& record, const Engine& engine) {
  const TimelineRow row = TimelineRowOf(record, engine);
  line_.clear();
  for (const int64_t count : row.counts) absl::StrAppend(&line_, count, ",");
  absl::StrAppend(&line_, AdmissionLimitName(row.limit));
  for (const int64_t bytes : row.bytes) absl::StrAppend(&line_, ",", bytes);
  absl::StrAppend(&line_, "\n");
  file_->Write(line_);
}

}  // namespace kvsim
