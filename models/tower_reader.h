// Vision towers beside a language model, as far as a config describes them.
//
// Model:   a tower is a stack of equal layers: four projections of attention
//          and the matrices of a feed-forward part. Patch embeddings and the
//          projector to the language model are left out; they are some percent.
// Errors:  none: what is not described counts as nothing. A tower does not
//          touch the cache, so a strange one must not refuse the model.
// Source:  vision_config of the models in docs/models.md.

#ifndef KVSIM_MODELS_TOWER_READER_H_
#define KVSIM_MODELS_TOWER_READER_H_

#include <cstdint>
#include <nlohmann/json.hpp>

namespace kvsim {

// Weights of the document's vision tower; 0 without one that is described.
int64_t CountTowerWeights(const nlohmann::json& document);

}  // namespace kvsim

#endif  // KVSIM_MODELS_TOWER_READER_H_
