#include "tools/run_watch.h"

#include <ostream>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "base/units.h"
#include "tools/terminal.h"

namespace kvsim {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kBetweenLines(500);
constexpr int64_t kStepsBetweenLooks = 256;

volatile std::sig_atomic_t interrupted = 0;

void OnInterrupt(int) { interrupted = 1; }

}  // namespace

RunWatch::RunWatch(std::ostream* err)
    : err_(IsTerminal(err) ? err : nullptr),
      next_(steady_clock::now() + kBetweenLines) {
  interrupted = 0;
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  action.sa_flags = SA_RESETHAND;  // the second one ends the program
  sigaction(SIGINT, &action, &before_);
}

RunWatch::~RunWatch() {
  sigaction(SIGINT, &before_, nullptr);
  if (printed_) *err_ << kOverLastLine << std::flush;
}

void RunWatch::OnStep(const StepRecord& record, const Engine&) {
  finished_ += static_cast<int64_t>(record.finished.size());
  if (interrupted != 0) stop_ = true;
  if (err_ == nullptr || record.step % kStepsBetweenLooks != 0) return;
  const auto now = steady_clock::now();
  if (now < next_) return;
  next_ = now + kBetweenLines;
  Print(record);
}

void RunWatch::Print(const StepRecord& record) {
  printed_ = true;
  *err_ << kOverLastLine
        << absl::StrCat("step ", FormatCount(record.step), ", model time ",
                        FormatDuration(SimTime(record.end_ns)), ", ",
                        FormatCount(record.at_end.running), " running, ")
        << absl::StrCat(FormatCount(record.at_end.waiting), " waiting, ",
                        FormatCount(finished_), " finished")
        << std::flush;
}

}  // namespace kvsim
