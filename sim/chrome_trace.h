// A run as a trace-event JSON file, for Perfetto (ui.perfetto.dev) or
// chrome://tracing.
//
// Model:      each request is a row of slices "waiting", "running",
//             "preempted"; each step is a slice with its tokens; counters show
//             running, waiting and the pool (held, idle, free bytes), written
//             when they change.
// File:       {"displayTimeUnit": "ms", "traceEvents": [...]}; microseconds with
//             three decimals, so nanoseconds are exact. Valid JSON only after
//             Finish(), also when the run was interrupted.
// Costs:      about 100 B a step and 500 B a request.
// Errors:     stay in the file until it is closed.
// Source:     "Trace Event Format", Google, 2016.
#ifndef KVSIM_SIM_CHROME_TRACE_H_
#define KVSIM_SIM_CHROME_TRACE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "base/output_file.h"
#include "sim/step_observer.h"

namespace kvsim {

class ChromeTrace final : public StepObserver {
 public:
  // Writes the beginning. `file` must outlive the trace.
  explicit ChromeTrace(OutputFile* file);

  void OnArrival(const ArrivalRecord& arrival) override;
  void OnStep(const StepRecord& record, const Engine& engine) override;
  // Ends the JSON. Call once, after the run.
  void Finish();

 private:
  void Event(absl::string_view fields);
  void Phase(char begin_or_end, absl::string_view name, RequestId id,
             int64_t time_ns);
  void Counter(absl::string_view name, int64_t time_ns,
               const std::string& values, std::string* last);
  void NoteRequests(const StepRecord& record);
  void NoteLevels(const StepRecord& record, const Engine& engine);

  OutputFile* file_;
  bool first_ = true;
  std::string last_requests_;  // counter values written last
  std::string last_pool_;
};

}  // namespace kvsim

#endif  // KVSIM_SIM_CHROME_TRACE_H_
