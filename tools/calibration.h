// What a user's own start-up log says of the memory left for the cache, kept in
// a file for later questions.
//
// Model:   `kvsim capacity --from-log LOG --calibration FILE` writes it,
//          `kvsim capacity --calibration FILE` uses it in the place of modelled
//          memory: an exact number, without a band, for the same engine, model,
//          card and split. Other settings move activations and graphs; where
//          they differ the answer says so.
// Format:  one JSON object: kvsim_calibration (1), engine, rules, model, gpu
//          (null: not named), gpu_total_gib (null: not printed),
//          tensor_parallel_size, pipeline_parallel_size,
//          max_num_batched_tokens, max_num_seqs, gpu_memory_utilization (null:
//          not known), settings[] as flags, parts{} as printed, kv_bytes of one rank.
// Errors:  InvalidArgument "FILE: field: ..."; a mismatch names both values.

#ifndef KVSIM_TOOLS_CALIBRATION_H_
#define KVSIM_TOOLS_CALIBRATION_H_

#include <string>

#include "absl/status/status.h"
#include "engines/capacity_answer.h"
#include "engines/capacity_question.h"
#include "tools/from_log.h"

namespace kvsim {

// FailedPrecondition where the log gives no memory.
absl::Status SaveCalibration(const LogComparison& comparison,
                             const std::string& path);

// Gives *question the file's memory, and a note that says so.
absl::Status ApplyCalibration(const std::string& path,
                              CapacityQuestion* question);

// Refuses an answer for another split; warns of other batch limits.
absl::Status CheckCalibrated(const std::string& path, CapacityAnswer* answer);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_CALIBRATION_H_
