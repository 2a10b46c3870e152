#include "engines/vllm/layer_grouping.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "engines/vllm/v4_grouping.h"

namespace kvsim::vllm {
namespace {

void StoreWindowsAsFullHistory(std::vector<LayerKvSpec>& caches) {
  for (LayerKvSpec& cache : caches) {
    KvSpec& spec = cache.spec;
    if (!IsSliding(spec.kind) && spec.kind != SpecKind::kChunkedLocal) continue;
    spec.kind = spec.kind == SpecKind::kSlidingWindowMla
                    ? SpecKind::kMla
                    : SpecKind::kFullAttention;
    spec.window = Tokens(0);
  }
}

bool AllEqual(const std::vector<LayerKvSpec>& caches) {
  return std::all_of(
      caches.begin(), caches.end(),
      [&](const LayerKvSpec& cache) { return cache.spec == caches[0].spec; });
}

// Equal in what decides the block table; rows and pages may differ.
bool SameType(const KvSpec& a, const KvSpec& b) {
  if (a.block_tokens != b.block_tokens) return false;
  if (KeepsAllHistory(a.kind)) return KeepsAllHistory(b.kind);
  return a.kind == b.kind && a.window == b.window;
}

bool UniformType(const std::vector<LayerKvSpec>& caches) {
  return std::all_of(caches.begin(), caches.end(),
                     [&](const LayerKvSpec& cache) {
                       return SameType(cache.spec, caches[0].spec);
                     });
}

bool HasKind(const std::vector<LayerKvSpec>& caches, SpecKind kind) {
  return std::any_of(
      caches.begin(), caches.end(),
      [&](const LayerKvSpec& cache) { return cache.spec.kind == kind; });
}

Grouping OneGroupOfAll(GroupingRule rule, std::vector<LayerKvSpec> caches) {
  Grouping grouping;
  grouping.rule = rule;
  LayerGroup all;
  for (size_t i = 0; i < caches.size(); ++i) all.members.push_back(i);
  grouping.groups = {all};
  grouping.caches = std::move(caches);
  return grouping;
}

// An index key shares the block table of its layer's latent: where pages must
// be equal, the two count as one page. Assumes equal blocks of the two.
std::vector<LayerKvSpec> FoldIndexKeys(std::vector<LayerKvSpec> caches) {
  std::vector<LayerKvSpec> folded;
  for (LayerKvSpec& cache : caches) {
    const bool folds = cache.is_index_key && !folded.empty() &&
                       folded.back().layer == cache.layer &&
                       SameType(folded.back().spec, cache.spec);
    if (folds) {
      folded.back().spec.index_row_bytes += cache.spec.row_bytes;
      folded.back().spec.tokens_per_index_row = cache.spec.tokens_per_row;
    } else {
      folded.push_back(std::move(cache));
    }
  }
  return folded;
}

Bytes LargestPage(const std::vector<LayerKvSpec>& caches) {
  Bytes largest(0);
  for (const LayerKvSpec& cache : caches) {
    largest = std::max(largest, Page(cache.spec));
  }
  return largest;
}

// A page that divides the largest gets more tokens, any other is padded.
void MakePagesEqual(Grouping& grouping) {
  const Bytes target = LargestPage(grouping.caches);
  std::set<std::string> padded;
  for (LayerKvSpec& cache : grouping.caches) {
    KvSpec& spec = cache.spec;
    const Bytes page = Page(spec);
    if (page == target) continue;
    if (spec.kind != SpecKind::kState && target % page == Bytes(0)) {
      spec.block_tokens *= target / page;
      continue;
    }
    spec.padded_page = target;
    padded.insert(absl::StrCat(SpecKindName(spec.kind), " pages of ",
                               UsedPage(spec).value(), " bytes are padded to ",
                               target.value()));
  }
  grouping.notes.insert(grouping.notes.end(), padded.begin(), padded.end());
}

// Caches with equal specs, in order of first appearance.
std::vector<std::vector<size_t>> Buckets(
    const std::vector<LayerKvSpec>& caches) {
  std::vector<std::vector<size_t>> buckets;
  for (size_t i = 0; i < caches.size(); ++i) {
    const auto found = std::find_if(
        buckets.begin(), buckets.end(), [&](const std::vector<size_t>& bucket) {
          return caches[bucket[0]].spec == caches[i].spec;
        });
    if (found != buckets.end()) {
      found->push_back(i);
    } else {
      buckets.push_back({i});
    }
  }
  return buckets;
}

// The size every group has: the largest bucket that is less than half as large
// again as the smallest, so that buckets of almost equal size are one group
// each.
size_t GroupSize(const std::vector<std::vector<size_t>>& buckets) {
  size_t least = buckets[0].size();
  for (const auto& bucket : buckets) least = std::min(least, bucket.size());
  size_t size = least;
  for (const auto& bucket : buckets) {
    if (2 * bucket.size() < 3 * least) size = std::max(size, bucket.size());
  }
  return size;
}

Grouping EqualGroups(std::vector<LayerKvSpec> caches) {
  Grouping grouping;
  grouping.rule = GroupingRule::kEqualGroups;
  grouping.caches = FoldIndexKeys(std::move(caches));
  MakePagesEqual(grouping);
  const auto buckets = Buckets(grouping.caches);
  const size_t size = GroupSize(buckets);
  for (const auto& bucket : buckets) {
    const size_t count = (bucket.size() + size - 1) / size;
    if (const size_t rest = bucket.size() % size; rest != 0) {
      const auto missing = static_cast<int64_t>(size - rest);
      grouping.layer_padding.push_back(
          {missing, 100.0 * static_cast<double>(missing) /
                        static_cast<double>(bucket.size())});
    }
    const size_t first = grouping.groups.size();
    grouping.groups.resize(first + count);
    for (size_t i = 0; i < bucket.size(); ++i) {
      grouping.groups[first + i % count].members.push_back(bucket[i]);
    }
  }
  return grouping;
}

// Latents beside ordinary windows whose pages cannot be made equal.
bool MustFallBackToFullHistory(const std::vector<LayerKvSpec>& caches) {
  if (!HasKind(caches, SpecKind::kMla) ||
      !HasKind(caches, SpecKind::kSlidingWindow)) {
    return false;
  }
  const Bytes target = LargestPage(caches);
  return std::any_of(caches.begin(), caches.end(),
                     [&](const LayerKvSpec& cache) {
                       return target % Page(cache.spec) != Bytes(0);
                     });
}

struct StageSum {
  int64_t tensors = 0;
  Bytes pages{0};
};

StageSum SumOnStage(const Grouping& grouping, const LayerGroup& group,
                    int64_t first, int64_t end) {
  StageSum sum;
  for (size_t member : group.members) {
    const LayerKvSpec& cache = grouping.caches[member];
    if (cache.layer < first || cache.layer >= end) continue;
    ++sum.tensors;
    sum.pages += Page(cache.spec);
  }
  return sum;
}

}  // namespace

absl::StatusOr<Grouping> GroupLayers(std::vector<LayerKvSpec> caches,
                                     bool hybrid_manager,
                                     CompressedPool compressed_pool) {
  if (caches.empty()) {
    return absl::InvalidArgumentError(
        "the model stores no KV cache: there is nothing to plan");
  }
  if (!hybrid_manager) StoreWindowsAsFullHistory(caches);
  if (AllEqual(caches)) {
    return OneGroupOfAll(GroupingRule::kOneGroup, std::move(caches));
  }
  if (UniformType(caches)) {
    return OneGroupOfAll(GroupingRule::kUniformType, std::move(caches));
  }
  if (NeedsPackedGroups(caches)) {
    return PackGroups(std::move(caches), compressed_pool);
  }
  if (MustFallBackToFullHistory(caches)) {
    StoreWindowsAsFullHistory(caches);
    Grouping grouping =
        OneGroupOfAll(GroupingRule::kUniformType, std::move(caches));
    grouping.notes.push_back(
        "page sizes cannot be made equal: sliding windows are stored as full "
        "history");
    return grouping;
  }
  return EqualGroups(std::move(caches));
}

Bytes SumOfPages(const Grouping& grouping, const LayerGroup& group) {
  return SumOnStage(grouping, group, 0, INT64_MAX).pages;
}

Bytes BytesPerBlock(const Grouping& grouping, int64_t first, int64_t end) {
  if (grouping.rule == GroupingRule::kPacked &&
      grouping.compressed_pool != CompressedPool::kPacked) {
    return SlottedBytesPerBlock(grouping, first, end);
  }
  Bytes bytes(0);
  for (const LayerGroup& group : grouping.groups) {
    bytes = std::max(bytes, SumOnStage(grouping, group, first, end).pages);
  }
  return bytes;
}

Bytes GateBytesPerBlock(const Grouping& grouping) {
  if (grouping.rule != GroupingRule::kPacked) {
    return BytesPerBlock(grouping, 0, INT64_MAX);
  }
  return TupleBytes(grouping) * grouping.packed_depth;
}

absl::string_view GroupingRuleName(GroupingRule rule) {
  switch (rule) {
    case GroupingRule::kOneGroup:
      return "one group";
    case GroupingRule::kUniformType:
      return "uniform type";
    case GroupingRule::kPacked:
      return "packed groups";
    case GroupingRule::kEqualGroups:
      return "equal groups";
  }
  return "unknown";
}

}  // namespace kvsim::vllm
