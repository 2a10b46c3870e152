#include "sim/timeline.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/timeline_row.h"

namespace kvsim {

namespace {

// Accounts that a group can have: idle and what is held.
constexpr auto kFirstOfGroup = static_cast<size_t>(Account::kIdle);

}  // namespace

Timeline::Timeline(OutputFile* file, int num_groups)
    : file_(file), num_groups_(num_groups > 1 ? num_groups : 0) {
  line_ = absl::StrCat(absl::StrJoin(kTimelineCounts, ","), ",limit");
  for (size_t i = 0; i < kNumAccounts; ++i) {
    absl::StrAppend(&line_, ",", AccountName(static_cast<Account>(i)));
  }
  for (int g = 0; g < num_groups_; ++g) {
    for (size_t i = kFirstOfGroup; i < kNumAccounts; ++i) {
      absl::StrAppend(&line_, ",g", g, ":",
                      AccountName(static_cast<Account>(i)));
    }
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
  for (int g = 0; g < num_groups_; ++g) {
    const LedgerSnapshot ledger = engine.GroupLedger(g);
    for (size_t i = kFirstOfGroup; i < kNumAccounts; ++i) {
      absl::StrAppend(&line_, ",", ledger.bytes[i]);
    }
  }
  absl::StrAppend(&line_, "\n");
  file_->Write(line_);
}

}  // namespace kvsim
