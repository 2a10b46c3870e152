// Reads measured steps from a CSV file.
//
// Columns:    by name, in any order, others ignored. The time is `step_us` or
//             the pair `start_ns`, `end_ns` (a timeline of `kvsim replay` has
//             it); what the batch held is `prefill_tokens`, `decode_requests`
//             and `context_tokens`; of these three any may be missing, but one
//             must be there. Rows with nothing in the batch are passed over.
// Meaning:    sim/batch_shape.h; context_tokens is decode_context and
//             prefill_context together.
// Errors:     file, line, column, the value found and what would be accepted.

#ifndef KVSIM_TOOLS_STEP_SAMPLES_H_
#define KVSIM_TOOLS_STEP_SAMPLES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/linear_fit.h"

namespace kvsim {

absl::StatusOr<std::vector<StepSample>> ReadStepSamples(
    const std::string& path);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_STEP_SAMPLES_H_
