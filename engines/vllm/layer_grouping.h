// Which layers share a block table, by vLLM's rules.
//
// Rules, in the engine's order:
//   1. equal specs everywhere: one group;
//   2. all keep the whole history in equal blocks, pages differ: one group of
//      uniform type, whose block is the sum of the layers' pages;
//   3. sliding MLA layers with differing pages: packed groups (v4_grouping.h);
//   4. otherwise pages are made equal (smaller pages get more tokens or
//      padding) and the layers are cut into groups of equal size.
// Group order: by first appearance of a spec in layer order.
// Source: vLLM, v1/core/kv_cache_utils.py, main of 2026-08-17.

#ifndef KVSIM_ENGINES_VLLM_LAYER_GROUPING_H_
#define KVSIM_ENGINES_VLLM_LAYER_GROUPING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/units.h"
#include "engines/pool_plan.h"
#include "engines/vllm/kv_spec.h"
#include "engines/vllm/planner_switches.h"

namespace kvsim::vllm {

// One cache tensor of one layer. A layer may have several: latent and index
// key.
struct LayerKvSpec {
  int32_t layer = 0;
  bool is_index_key = false;
  KvSpec spec;
};

enum class GroupingRule { kOneGroup, kUniformType, kPacked, kEqualGroups };

struct LayerGroup {
  std::vector<size_t> members;  // into Grouping::caches
};

struct Grouping {
  GroupingRule rule = GroupingRule::kOneGroup;
  std::vector<LayerKvSpec> caches;  // with blocks and pages made equal
  std::vector<LayerGroup> groups;
  int64_t packed_depth = 0;  // kPacked: tuples of the deepest group
  std::vector<LayerPadding> layer_padding;  // kEqualGroups, by kind
  CompressedPool compressed_pool = CompressedPool::kPacked;
  std::vector<std::string> notes;
};

// Groups the caches of the whole model. `caches` is in layer order, drafts
// last. `hybrid_manager` false: windows and chunks are stored as full history.
// Errors: InvalidArgument when the model has no cache at all.
absl::StatusOr<Grouping> GroupLayers(
    std::vector<LayerKvSpec> caches, bool hybrid_manager,
    CompressedPool compressed_pool = CompressedPool::kPacked);

// Bytes of one block on a rank that holds the layers [first, end); layers
// beyond the model (drafts) count as part of the last stage, whose `end` is
// past them.
Bytes BytesPerBlock(const Grouping& grouping, int64_t first, int64_t end);

// Bytes of one block as the start-up check charges it: the whole model's, and
// for packed groups the engine's own larger figure.
Bytes GateBytesPerBlock(const Grouping& grouping);

// Sum of the pages of a group's caches, over the whole model.
Bytes SumOfPages(const Grouping& grouping, const LayerGroup& group);

// "one group", "uniform type", "packed groups", "equal groups".
absl::string_view GroupingRuleName(GroupingRule rule);

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_LAYER_GROUPING_H_
