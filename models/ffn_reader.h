// Reading the feed-forward part of each layer: dense, or experts.

#ifndef KVSIM_MODELS_FFN_READER_H_
#define KVSIM_MODELS_FFN_READER_H_

#include <cstdint>
#include <vector>

#include "models/config_fields.h"
#include "models/dialects.h"
#include "models/layer_patterns.h"
#include "models/model_spec.h"

namespace kvsim {

// One entry per layer of `plan`, then one per MTP layer (which has experts
// whenever the model has). Where a layer is a mixer or a feed-forward part, the
// plan says which. Only the parameter count depends on it. Errors go to
// fields.status().
std::vector<FfnSpec> ReadFfn(const Dialect& dialect, const LayerPlan& plan,
                             int64_t hidden_size, ConfigFields& fields);

}  // namespace kvsim

#endif  // KVSIM_MODELS_FFN_READER_H_
