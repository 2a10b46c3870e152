// How many layers a config describes, and how many follow for multi-token
// prediction.
//
// Families disagree on the names; some name only a list (layers_block_type),
// some keep the prediction layers in an object of their own (mtp_config).

#ifndef KVSIM_MODELS_LAYER_COUNTS_H_
#define KVSIM_MODELS_LAYER_COUNTS_H_

#include <cstdint>
#include <optional>

#include "models/config_fields.h"

namespace kvsim {

struct LayerCounts {
  int64_t layers = 0;
  int64_t mtp = 0;  // prediction steps; a step may be several layers
  std::optional<ConfigFields> mtp_config;
};

// `inner` holds the language model's fields, `outer` the whole document. Both
// counts are at most kMaxLayers. Errors go to inner.status().
LayerCounts ReadLayerCounts(ConfigFields& inner, ConfigFields& outer);

}  // namespace kvsim

#endif  // KVSIM_MODELS_LAYER_COUNTS_H_
