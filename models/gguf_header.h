// GgufHeader: the metadata at the front of a GGUF file (llama.cpp's format).
//
// Model:  magic "GGUF", a version, a count of tensors, a count of key-value
//         pairs, then the pairs: a key, a type, a value. All numbers are
//         little-endian. Values are kept when a shape can depend on them:
//         integers, booleans, strings and lists of integers. Of other lists
//         (the vocabulary) only the length is kept.
// Errors: every read is bounded by the bytes at hand; counts are believed only
//         as far as they fit. A Status names the file, the byte and the key.
// Costs:  one pass over the bytes, O(kept values) memory.
// Source: the GGUF specification, versions 2 and 3.

#ifndef KVSIM_MODELS_GGUF_HEADER_H_
#define KVSIM_MODELS_GGUF_HEADER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kvsim {

// A list whose entries are not integers: only their number.
struct GgufListLength {
  int64_t entries = 0;
};

using GgufValue = std::variant<bool, int64_t, double, std::string,
                               std::vector<int64_t>, GgufListLength>;

class GgufHeader {
 public:
  int64_t version = 0;
  int64_t tensors = 0;
  std::map<std::string, GgufValue> values;

  // nullopt when the key is absent or has another type.
  std::optional<int64_t> Int(const std::string& key) const;
  std::optional<std::string> Text(const std::string& key) const;
  // Integers or booleans; nullptr when absent or of another type.
  const std::vector<int64_t>* Ints(const std::string& key) const;
  // Entries of any list; nullopt when absent or no list.
  std::optional<int64_t> Length(const std::string& key) const;
};

// Whether the bytes begin like a GGUF file.
bool IsGguf(absl::string_view bytes);

// `bytes` is the front of the file, which may end anywhere after the pairs;
// `name` names it in errors.
absl::StatusOr<GgufHeader> ParseGgufHeader(absl::string_view bytes,
                                           absl::string_view name);

}  // namespace kvsim

#endif  // KVSIM_MODELS_GGUF_HEADER_H_
