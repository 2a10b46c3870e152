// The YAML file behind an engine's --config: one mapping from a flag's name,
// without its dashes, to what would stand behind it on the command line.
//
// Model:   a scalar is one value, a list is several, a mapping is JSON text;
//          true turns a switch on, false and null leave the flag out, as the
//          engines read such files. Plain words are typed by YAML 1.1's core
//          rules (true, yes, on; null, ~; numbers), quoted ones are text.
// Errors:  InvalidArgument "FILE: line N: what is wrong".

#ifndef KVSIM_ENGINES_SERVE_CONFIG_FILE_H_
#define KVSIM_ENGINES_SERVE_CONFIG_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kvsim {

struct ConfigFlag {
  enum class Kind { kAbsent, kSwitch, kValues };

  std::string name;  // "max-model-len", "max_model_len"
  Kind kind = Kind::kValues;
  std::vector<std::string> values;  // kValues: one, or a list's
  int line = 0;                     // from 1
};

// `text` is the file, `name` names it in errors. In the file's order.
absl::StatusOr<std::vector<ConfigFlag>> ParseServeConfig(
    absl::string_view text, absl::string_view name);

// Errors also name a file that cannot be read (NotFound).
absl::StatusOr<std::vector<ConfigFlag>> ReadServeConfig(
    const std::string& path);

}  // namespace kvsim

#endif  // KVSIM_ENGINES_SERVE_CONFIG_FILE_H_
