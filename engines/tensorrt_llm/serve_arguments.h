// What a `trtllm-serve` command asks of the caches.
//
// Model:   a command read by serve_flag_table.h becomes Settings; what it
//          leaves out keeps the engine's defaults. The YAML file that
//          --extra_llm_api_options names goes before the command line: of it
//          kv_cache_config (a mapping), the parallel sizes, the limits and
//          speculative_config are read; other fields become warnings when they
//          could change the caches.
// Environment: TRTLLM_WINDOW_SIZE_SHARES before the command counts.
// Errors:  InvalidArgument with place, flag or field, value and what would be
//          accepted; NotFound for a file that cannot be read.

#ifndef KVSIM_ENGINES_TENSORRT_LLM_SERVE_ARGUMENTS_H_
#define KVSIM_ENGINES_TENSORRT_LLM_SERVE_ARGUMENTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engines/serve_flags.h"
#include "engines/tensorrt_llm/settings.h"

namespace kvsim::tensorrt_llm {

struct ServeArguments {
  Settings settings;
  std::string model;                  // "": the command names none
  std::vector<std::string> warnings;  // flags and fields that are not modelled
};

// REQUIRES: `command` was read with TrtllmServeGrammar().
absl::StatusOr<ServeArguments> ReadServeArguments(const ServeCommand& command);

}  // namespace kvsim::tensorrt_llm

#endif  // KVSIM_ENGINES_TENSORRT_LLM_SERVE_ARGUMENTS_H_
