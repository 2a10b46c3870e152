// What `kvsim tune checkpoints` prints.
//
// Text: tables with units, for people. JSON, one object; bytes are one rank's:
//   model, trace, prompt_tokens, reusable_tokens, longest_prompt_tokens
//   points[]: policy, dtype ("" the model's), error (null when it ran); if it ran
//     checkpoints, bytes_each, mean_bytes, peak_bytes, live_mean_bytes,
//     pool_bytes, block_tokens, num_blocks, hit_tokens, hit_rate,
//     recomputed_tokens (reusable_tokens less hits), bound_tokens, mean_running,
//     peak_running, preemptions, duration_ns, on_front
//   knee: index into points, or null
//   spacing[]: every_tokens, tokens, checkpoints (⌈tokens / every_tokens⌉), bytes
//   notes[]: warnings of the plan first
#ifndef KVSIM_TOOLS_CHECKPOINT_REPORT_H_
#define KVSIM_TOOLS_CHECKPOINT_REPORT_H_

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "base/text.h"
#include "tools/checkpoint_study.h"

namespace kvsim {

struct CheckpointReport {
  std::string model;  // "": --groups
  std::string trace;
  CheckpointStudy study;
};

void PrintCheckpoints(const CheckpointReport& report, ByteUnits units,
                      std::ostream& out);
nlohmann::ordered_json CheckpointsJson(const CheckpointReport& report);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_CHECKPOINT_REPORT_H_
