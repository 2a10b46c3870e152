// One CSV row per step: what the engine did and where the pool's bytes were.
//
// File:       a header line, then step, start_ns, end_ns, tokens, scheduled,
//             running, waiting, free_blocks (these three right after
//             scheduling), admitted, resumed, preempted, finished, the batch as
//             a cost model sees it (prefill_tokens, decode_requests,
//             context_tokens), limit, then one column per ledger
//             account at the end of the step, in bytes. With several cache
//             groups the accounts of each follow, named g0:idle, g0:live, …:
//             those of its held and idle blocks.
//             Model time in nanoseconds. A step that only drained outputs has
//             0 tokens.
// Costs:      about 1 us and 120 B a step.
// Errors:     stay in the file until it is closed.
#ifndef KVSIM_SIM_TIMELINE_H_
#define KVSIM_SIM_TIMELINE_H_

#include <string>

#include "base/output_file.h"
#include "sim/step_observer.h"

namespace kvsim {

class Timeline final : public StepObserver {
 public:
  // Writes the header, for an engine of so many cache groups. `file` must outlive
  // the timeline.
  explicit Timeline(OutputFile* file, int num_groups = 1);

  void OnStep(const StepRecord& record, const Engine& engine) override;

 private:
  OutputFile* file_;
  const int num_groups_;
  std::string line_;
};

}  // namespace kvsim

#endif  // KVSIM_SIM_TIMELINE_H_
