// Which layers of a model are full, windowed, chunked, linear, or no mixer.

#ifndef KVSIM_MODELS_LAYER_PATTERNS_H_
#define KVSIM_MODELS_LAYER_PATTERNS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "models/config_fields.h"
#include "models/dialects.h"
#include "models/layer_counts.h"

namespace kvsim {

enum class LayerMix : uint8_t {
  kFull,           // whatever the dialect's family calls full attention
  kSparse,         // the same with an indexer of its own or a shared one
  kWindow,         // last sliding_window tokens
  kChunk,          // current attention_chunk_size tokens
  kLinear,         // the dialect's recurrent state
  kHybrid,         // kFull and kLinear side by side
  kCompressed4,    // V4's rows for 4 tokens, with an indexer
  kCompressed128,  // V4's rows for 128 tokens
  kDenseFfn,       // no mixer: the layer is a dense feed-forward part
  kMoeFfn,         // no mixer: the layer is a set of experts
};

// One entry per layer, and one per layer of the prediction steps.
struct LayerPlan {
  std::vector<LayerMix> layers;
  std::vector<LayerMix> mtp;
};

// `layer_types` wins over every other key; otherwise the dialect's pattern
// decides. A list may be longer than the layers by exactly the MTP layers,
// which its tail then describes; MTP layers that nothing describes are full.
// Errors go to fields.status().
LayerPlan ReadLayerPlan(const Dialect& dialect, LayerCounts& counts,
                        ConfigFields& fields);

// Checks that list `field` of `size` entries covers `layers`, with or without
// `mtp_layers` more; otherwise fails with both numbers.
bool CheckListLength(const char* field, size_t size, int64_t layers,
                     int64_t mtp_layers, ConfigFields& fields);

}  // namespace kvsim

#endif  // KVSIM_MODELS_LAYER_PATTERNS_H_
