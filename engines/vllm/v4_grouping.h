// Groups of models whose sliding layers store MLA rows with pages of several
// sizes (DeepSeek V4): packed slabs instead of equal pages.
//
// Model:   one group of all layers that keep history; the sliding layers keyed
//          by (block, window). A tuple is one layer of each page size. `depth`
//          is the tuple count that wastes least; groups with more tuples are
//          split. A group lays its pages densely into one slab; the block is
//          the largest slab.
// Older pools (CompressedPool): a block has slots of the history group's page
//          sizes, and a sliding page is padded to the smallest slot that holds
//          it. Tuple pools have `depth` slots of every size, bucket pools only
//          as many as some group uses.
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
Grouping PackGroups(std::vector<LayerKvSpec> caches,
                    CompressedPool pool = CompressedPool::kPacked);

// One page of each size of the history group.
// REQUIRES: grouping.rule is kPacked, here and below.
Bytes TupleBytes(const Grouping& grouping);

// The block of an older pool on a rank that holds the layers [first, end).
// REQUIRES: grouping.compressed_pool is not kPacked.
Bytes SlottedBytesPerBlock(const Grouping& grouping, int64_t first,
                           int64_t end);

// The depth in [least, greatest of counts] with the least total padding when
// every count is rounded up to a multiple of it; ties go to the larger.
// REQUIRES: counts are positive and `least` is one of them.
int64_t LeastWastefulDepth(const std::vector<int64_t>& counts, int64_t least);

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_V4_GROUPING_H_
