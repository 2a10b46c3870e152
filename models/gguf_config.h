// From a GGUF header to the text of a config.json.
//
// llama.cpp names an architecture and the same sizes under other keys; spelled
// as a config, they go through the one table of dialects. Its counts of KV
// heads per layer say which layers attend at all. The cache is 16-bit there
// unless told otherwise, so the dtype is float16.
// Source: llama.cpp's constants (gguf-py) and the GGUF specification.

#ifndef KVSIM_MODELS_GGUF_CONFIG_H_
#define KVSIM_MODELS_GGUF_CONFIG_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/gguf_header.h"

namespace kvsim {

// Errors name the key: no general.architecture, or counts of KV heads that
// differ between layers of one kind. An architecture without a counterpart
// keeps its name, which no dialect then knows.
absl::StatusOr<std::string> GgufConfig(const GgufHeader& header,
                                       absl::string_view name);

}  // namespace kvsim

#endif  // KVSIM_MODELS_GGUF_CONFIG_H_
