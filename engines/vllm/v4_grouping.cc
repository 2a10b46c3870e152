#include "engines/vllm/v4_grouping.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "base/check.h"

namespace kvsim::vllm {
namespace {

// Caches of one block table, before it is split.
struct PackedGroup {
  std::vector<size_t> members;
  std::map<Bytes, std::vector<size_t>> by_page;
};

// Tuples of the group: how often its most common page occurs.
int64_t TupleCount(const PackedGroup& group) {
  size_t count = 0;
  for (const auto& [page, members] : group.by_page) {
    count = std::max(count, members.size());
  }
  return static_cast<int64_t>(count);
}

// The history group first, then sliding layers by (block, window) in order of
// first appearance.
std::vector<PackedGroup> KeyedGroups(const std::vector<LayerKvSpec>& caches) {
  std::vector<PackedGroup> groups(1);
  std::vector<std::pair<Tokens, Tokens>> keys;
  for (size_t i = 0; i < caches.size(); ++i) {
    const KvSpec& spec = caches[i].spec;
    size_t index = 0;
    if (!KeepsAllHistory(spec.kind)) {
      const std::pair key(spec.block_tokens, spec.window);
      const auto found = std::find(keys.begin(), keys.end(), key);
      index = 1 + static_cast<size_t>(found - keys.begin());
      if (found == keys.end()) {
        keys.push_back(key);
        groups.emplace_back();
      }
    }
    groups[index].members.push_back(i);
    groups[index].by_page[Page(spec)].push_back(i);
  }
  return groups;
}

// Cuts a group into `parts`, dealing out the layers of each page size in turn.
std::vector<LayerGroup> Deal(const PackedGroup& group, size_t parts) {
  std::vector<LayerGroup> dealt(parts);
  for (const auto& [page, members] : group.by_page) {
    for (size_t i = 0; i < members.size(); ++i) {
      dealt[i % parts].members.push_back(members[i]);
    }
  }
  for (LayerGroup& part : dealt) {
    std::sort(part.members.begin(), part.members.end());
  }
  return dealt;
}

std::set<Bytes> HistoryPages(const std::vector<LayerKvSpec>& caches) {
  std::set<Bytes> pages;
  for (const LayerKvSpec& cache : caches) {
    if (KeepsAllHistory(cache.spec.kind)) pages.insert(Page(cache.spec));
  }
  return pages;
}

// Older pools: a sliding page takes the smallest slot that holds it.
void PadToSlots(std::vector<LayerKvSpec>& caches) {
  const std::set<Bytes> slots = HistoryPages(caches);
  for (LayerKvSpec& cache : caches) {
    const auto slot = slots.lower_bound(Page(cache.spec));
    if (slot != slots.end()) cache.spec.padded_page = *slot;
  }
}

}  // namespace

bool NeedsPackedGroups(const std::vector<LayerKvSpec>& caches) {
  const bool slides =
      std::any_of(caches.begin(), caches.end(), [](const LayerKvSpec& cache) {
        return cache.spec.kind == SpecKind::kSlidingWindowMla;
      });
  const bool pages_differ =
      std::any_of(caches.begin(), caches.end(), [&](const LayerKvSpec& cache) {
        return Page(cache.spec) != Page(caches[0].spec);
      });
  return slides && pages_differ;
}

int64_t LeastWastefulDepth(const std::vector<int64_t>& counts, int64_t least) {
  const int64_t most = *std::max_element(counts.begin(), counts.end());
  int64_t best_depth = least;
  int64_t best_waste = INT64_MAX;
  for (int64_t depth = least; depth <= most; ++depth) {
    int64_t waste = 0;
    for (int64_t count : counts) waste += RoundUp(count, depth) - count;
    if (waste <= best_waste) {
      best_waste = waste;
      best_depth = depth;
    }
  }
  return best_depth;
}

Grouping PackGroups(std::vector<LayerKvSpec> caches, CompressedPool pool) {
  KVSIM_CHECK(NeedsPackedGroups(caches));
  if (pool != CompressedPool::kPacked) PadToSlots(caches);
  const std::vector<PackedGroup> keyed = KeyedGroups(caches);
  std::vector<int64_t> counts;
  for (const PackedGroup& group : keyed) {
    if (!group.members.empty()) counts.push_back(TupleCount(group));
  }
  Grouping grouping;
  grouping.rule = GroupingRule::kPacked;
  grouping.compressed_pool = pool;
  grouping.packed_depth = LeastWastefulDepth(counts, counts[0]);
  for (const PackedGroup& group : keyed) {
    if (group.members.empty()) continue;
    const bool history = &group == &keyed[0];
    const int64_t parts =
        history ? 1 : CeilDiv(TupleCount(group), grouping.packed_depth);
    for (LayerGroup& part : Deal(group, static_cast<size_t>(parts))) {
      grouping.groups.push_back(std::move(part));
    }
  }
  grouping.caches = std::move(caches);
  return grouping;
}

Bytes TupleBytes(const Grouping& grouping) {
  Bytes tuple(0);
  for (Bytes page : HistoryPages(grouping.caches)) tuple += page;
  return tuple;
}

Bytes SlottedBytesPerBlock(const Grouping& grouping, int64_t first,
                           int64_t end) {
  if (grouping.compressed_pool == CompressedPool::kTuple) {
    return TupleBytes(grouping) * grouping.packed_depth;
  }
  std::map<Bytes, int64_t> slots;
  for (const LayerGroup& group : grouping.groups) {
    std::map<Bytes, int64_t> used;
    for (size_t member : group.members) {
      const LayerKvSpec& cache = grouping.caches[member];
      if (cache.layer >= first && cache.layer < end) ++used[Page(cache.spec)];
    }
    for (const auto& [page, count] : used) {
      slots[page] = std::max(slots[page], count);
    }
  }
  Bytes bytes(0);
  for (const auto& [page, count] : slots) bytes += page * count;
  return bytes;
}

}  // namespace kvsim::vllm
