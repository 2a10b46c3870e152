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
//          Mode kAll keeps a state for every block, whose tokens are then a
//          multiple of the chunk of the state's kernel.
// Platforms: Ascend's smallest block is 128 tokens, XPU's 64, and XPU rounds a
//          grown block up to 64; TPUs plan for all chips of the engine at once,
//          so heads are not divided.
// Source:  vLLM main of 2026-08-17 (attention layers' get_kv_cache_spec,
//          platforms/interface.py, layers/mamba/mamba_utils.py).

#ifndef KVSIM_ENGINES_VLLM_SPEC_BUILDER_H_
#define KVSIM_ENGINES_VLLM_SPEC_BUILDER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/units.h"
#include "engines/capacity_question.h"
#include "engines/vllm/layer_grouping.h"
#include "models/cache_layout.h"
#include "models/model_spec.h"

namespace kvsim::vllm {

struct SpecRules {
  int64_t tensor = 1;
  // --block-size; none: the backend's choice for the model and the GPU.
  std::optional<Tokens> block_size;
  int sm = 0;  // compute capability times ten, 0: unknown
  Platform platform = Platform::kCuda;
  std::string attention_backend;  // "": by the model and the GPU
  StateMode state_mode = StateMode::kAlign;
  std::optional<Tokens> state_block;  // --mamba-block-size, of mode kAll
};

// The block size that the engine picks without --block-size: 256 for compressed
// attention, 64 with an indexer, 128 on Ascend and 64 on XPU, what the backend
// of dense latents needs (FLASHMLA 64, CUTLASS_MLA 128, 32 on data-centre
// Blackwell), else 16.
Tokens DefaultBlockTokens(const ModelSpec& model, const SpecRules& rules);

// True when some layer keeps a recurrent state.
bool HasRecurrentState(const ModelSpec& model);
// True when all of those are Mamba's, whose kernels can keep a state for every
// block (StateMode::kAll).
bool CanKeepAllStates(const ModelSpec& model);

// The specs of all layers in order, MTP layers as layers beyond the model.
// Errors: InvalidArgument naming flag and both numbers when heads do not divide;
// a block size that is not positive.
absl::StatusOr<std::vector<LayerKvSpec>> BuildKvSpecs(const ModelSpec& model,
                                                      const CacheLayout& layout,
                                                      const SpecRules& rules);

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_SPEC_BUILDER_H_
