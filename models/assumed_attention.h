// AssumedAttention: what --assume says about a config of an unknown family.

#ifndef KVSIM_MODELS_ASSUMED_ATTENTION_H_
#define KVSIM_MODELS_ASSUMED_ATTENTION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kvsim {

enum class AssumedAttention : uint8_t {
  kNone,  // an unknown family is an error
  kGqa,   // K and V of every KV head in every layer
  kMla,   // one latent row in every layer
};

// "" is kNone, "gqa" and "mla" the others; the Status of another text lists
// them.
absl::StatusOr<AssumedAttention> ParseAssumedAttention(absl::string_view text);

// "gqa", "mla"; "" for kNone.
absl::string_view Name(AssumedAttention assume);

}  // namespace kvsim

#endif  // KVSIM_MODELS_ASSUMED_ATTENTION_H_
