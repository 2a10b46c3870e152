// What a `vllm serve` command asks of the cache.
//
// Model:   a command read by serve_flag_table.h becomes the fields of a
//          CapacityQuestion. Numbers of tokens and bytes are read as vLLM reads
//          them: 32k is 32,000 and 32K is 32,768, 25G is 25 x 2^30. Flags that
//          the command leaves out leave their fields alone. A drafter that is a
//          model of its own is named, not loaded.
// Environment: VLLM_USE_V1 and VLLM_ATTENTION_BACKEND before the command count;
//          other VLLM_ variables that could change the cache become warnings.
// Errors:  InvalidArgument with place, flag, value and what would be accepted.

#ifndef KVSIM_ENGINES_VLLM_SERVE_ARGUMENTS_H_
#define KVSIM_ENGINES_VLLM_SERVE_ARGUMENTS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engines/capacity_question.h"
#include "engines/serve_flags.h"
#include "engines/served_model.h"

namespace kvsim::vllm {

// Sets the fields of *question that the command decides; models are left to
// the caller. REQUIRES: `command` was read with VllmServeGrammar().
absl::StatusOr<ServedModel> ApplyServeCommand(const ServeCommand& command,
                                              CapacityQuestion* question);

// A count as vLLM's flags take it: "8192", "32k" (32,000), "32K" (32,768),
// "1.5m", "-1". Errors say what would be accepted.
absl::StatusOr<int64_t> ParseHumanCount(absl::string_view text);

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_SERVE_ARGUMENTS_H_
