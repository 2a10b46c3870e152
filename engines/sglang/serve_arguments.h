// What a command that starts SGLang's server asks of the caches.
//
// Model:   a command read by serve_flag_table.h becomes Settings; what it
//          leaves out keeps the engine's defaults. The algorithms that draft
//          with the model's own layers are EAGLE, EAGLE3, NEXTN and MTP; a
//          drafter that is another model is named, not loaded.
// Errors:  InvalidArgument with place, flag, value and what would be accepted.

#ifndef KVSIM_ENGINES_SGLANG_SERVE_ARGUMENTS_H_
#define KVSIM_ENGINES_SGLANG_SERVE_ARGUMENTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engines/serve_flags.h"
#include "engines/sglang/settings.h"

namespace kvsim::sglang {

struct ServeArguments {
  Settings settings;
  std::string model;                  // "": the command names none
  std::string model_overrides;        // JSON object; "" for none
  std::vector<std::string> warnings;  // flags that are not modelled
};

// REQUIRES: `command` was read with SglangServeGrammar().
absl::StatusOr<ServeArguments> ReadServeArguments(const ServeCommand& command);

}  // namespace kvsim::sglang

#endif  // KVSIM_ENGINES_SGLANG_SERVE_ARGUMENTS_H_
