// Groups of models whose sliding layers store MLA rows with pages of several
// sizes (DeepSeek V4): packed slabs instead of equal pages.
//
// Model:   one group of all layers that keep history; the sliding layers keyed
//          by (block, window). A tuple is one layer of each page size. `depth`
//          is the tuple count that wastes least; groups with more tuples are
//          split. A group lays its pages densely into one slab; the block is
//          the largest slab.
// Source:  vLLM, v1/core/kv_cache_utils.py, main of 2026-08-17.

#ifndef KVSIM_ENGINES_VLLM_V4_GROUPING_H_
#define KVSIM_ENGINES_VLLM_V4_GROUPING_H_

#include <cstdint>
#include <vector>

#include "engines/vllm/layer_grouping.h"

namespace kvsim::vllm {

// True when some layer is sliding MLA and pages differ.
bool NeedsPackedGroups(const std::vector<LayerKvSpec>& caches);

// REQUIRES: NeedsPackedGroups(caches).
Grouping PackGroups(std::vector<LayerKvSpec> caches);

// The depth in [least, greatest of counts] with the least total padding when
// every count is rounded up to a multiple of it; ties go to the larger.
// REQUIRES: counts are positive and `least` is one of them.
int64_t LeastWastefulDepth(const std::vector<int64_t>& counts, int64_t least);

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_V4_GROUPING_H_
