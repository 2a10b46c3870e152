// What a `llama-server` command asks of the caches.
//
// Model:   a command read by serve_flag_table.h becomes Settings; what it
//          leaves out keeps the engine's defaults. Models are named, not loaded.
// Errors:  InvalidArgument with place, flag, value and what would be accepted.

#ifndef KVSIM_ENGINES_LLAMA_CPP_SERVE_ARGUMENTS_H_
#define KVSIM_ENGINES_LLAMA_CPP_SERVE_ARGUMENTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engines/llama_cpp/settings.h"
#include "engines/serve_flags.h"

namespace kvsim::llama_cpp {

struct ServeArguments {
  Settings settings;
  std::string model;                  // "": the command names none
  std::vector<std::string> warnings;  // flags that are not modelled
};

// REQUIRES: `command` was read with LlamaServeGrammar().
absl::StatusOr<ServeArguments> ReadServeArguments(const ServeCommand& command);

}  // namespace kvsim::llama_cpp

#endif  // KVSIM_ENGINES_LLAMA_CPP_SERVE_ARGUMENTS_H_
