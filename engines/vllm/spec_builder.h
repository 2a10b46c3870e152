// From what a model's layers store to what vLLM's planner is told about them.
//
// Model:   every cache tensor group of a layer (one per store: K and V, index
//          keys, windows, compressor states, recurrent state) becomes one spec
//          with this rank's share of its heads. Latents and index keys are
//          whole on every rank; recurrent heads must divide.
// Blocks:  history takes the block size of the run; a sliding window picks the
//          smallest block of its backend, 16; the caches of compressed
//          attention have blocks of their own.
// Hybrids: where recurrent states share the pool, the attention block grows
//          until its page holds a state, and the state's page is padded to it.
// Source:  vLLM main of 2026-08-17 (attention layers' get_kv_cache_spec,
//          platforms/interface.py, layers/mamba/mamba_utils.py).

#ifndef KVSIM_ENGINES_VLLM_SPEC_BUILDER_H_
#define KVSIM_ENGINES_VLLM_SPEC_BUILDER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/units.h"
#include "engines/vllm/layer_grouping.h"
#include "models/cache_layout.h"
#include "models/model_spec.h"

namespace kvsim::vllm {

struct SpecRules {
  int64_t tensor = 1;
  // --block-size; none: the backend's choice for the model and the GPU.
  std::optional<Tokens> block_size;
  int sm = 0;  // compute capability times ten, 0: unknown
};

// The block size that the engine picks without --block-size: 256 for compressed
// attention, 64 with an indexer, 32 for dense latents on data-centre Blackwell,
// else 16.
Tokens DefaultBlockTokens(const ModelSpec& model, int sm);

// True when some layer keeps a recurrent state.
bool HasRecurrentState(const ModelSpec& model);

// The specs of all layers in order, MTP layers as layers beyond the model.
// Errors: InvalidArgument naming flag and both numbers when heads do not divide;
// a block size that is not positive.
absl::StatusOr<std::vector<LayerKvSpec>> BuildKvSpecs(const ModelSpec& model,
                                                      const CacheLayout& layout,
                                                      const SpecRules& rules);

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_SPEC_BUILDER_H_
