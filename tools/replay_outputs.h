// The files that `kvsim replay` writes beside its report.

#ifndef KVSIM_TOOLS_REPLAY_OUTPUTS_H_
#define KVSIM_TOOLS_REPLAY_OUTPUTS_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/output_file.h"
#include "engines/engine.h"
#include "engines/vllm/settings.h"
#include "sim/chrome_trace.h"
#include "sim/simulator.h"
#include "sim/step_log.h"
#include "sim/timeline.h"
#include "tools/replay_flags.h"

namespace kvsim {

class ReplayOutputs {
 public:
  // Opens what the flags name, for an engine of these normalized settings.
  static absl::StatusOr<std::unique_ptr<ReplayOutputs>> Open(
      const ReplayFlags& flags, const vllm::Settings& settings);

  // Adds what writes the files. This object must outlive the simulator.
  void Observe(Simulator* simulator);

  // Ends the files; the first error of any of them. Call once, after the run.
  absl::Status Finish(const Engine& engine, int64_t now_ns);

 private:
  ReplayOutputs() = default;

  std::unique_ptr<OutputFile> timeline_file_, chrome_file_, log_file_;
  std::optional<Timeline> timeline_;
  std::optional<ChromeTrace> chrome_trace_;
  std::optional<StepLog> step_log_;
};

}  // namespace kvsim

#endif  // KVSIM_TOOLS_REPLAY_OUTPUTS_H_
