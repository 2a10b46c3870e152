// Which layers of a model are full, windowed, chunked or linear.

#ifndef KVSIM_MODELS_LAYER_PATTERNS_H_
#define KVSIM_MODELS_LAYER_PATTERNS_H_

#include <cstdint>
#include <vector>

#include "models/config_fields.h"
#include "models/dialects.h"

namespace kvsim {

enum class LayerMix : uint8_t {
  kFull,    // whatever the dialect's family calls full attention
  kWindow,  // last sliding_window tokens
  kChunk,   // current attention_chunk_size tokens
  kLinear,  // the dialect's recurrent state
};

// One entry per layer. `layer_types` wins over every other key; otherwise the
// dialect's pattern decides. A list may be longer than `layers` by exactly
// `mtp_layers` (its tail describes those). Errors go to fields.status().
std::vector<LayerMix> ReadLayerMix(const Dialect& dialect, int64_t layers,
                                   int64_t mtp_layers, ConfigFields& fields);

// Checks that list `field` of `size` entries covers `layers`, with or without
// `mtp_layers` more; otherwise fails with both numbers.
bool CheckListLength(const char* field, size_t size, int64_t layers,
                     int64_t mtp_layers, ConfigFields& fields);

}  // namespace kvsim

#endif  // KVSIM_MODELS_LAYER_PATTERNS_H_
