#include "tools/paged_groups.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engines/vllm/cache_group.h"
#include "tools/command.h"

namespace kvsim {
namespace {

constexpr char kTable[] = "table:";
constexpr int64_t kAssumedRowBytes = 64;

PagedGroup PagedGroupOf(const vllm::CacheGroup& group) {
  PagedGroup paged;
  paged.block_tokens = group.block_tokens;
  paged.tokens = group.window + group.chunk + group.encoder_tokens;
  paged.state_mode = group.state_mode;
  switch (group.kind) {
    case vllm::GroupKind::kFull:
      paged.keeps = PagedGroup::Keeps::kAll;
      break;
    case vllm::GroupKind::kSlidingWindow:
      paged.keeps = PagedGroup::Keeps::kWindow;
      break;
    case vllm::GroupKind::kChunkedLocal:
      paged.keeps = PagedGroup::Keeps::kChunk;
      break;
    case vllm::GroupKind::kRecurrent:
      paged.keeps = PagedGroup::Keeps::kState;
      break;
    case vllm::GroupKind::kCross:
      paged.keeps = PagedGroup::Keeps::kEncoder;
      break;
  }
  paged.row_bytes = group.geometry.row_bytes;
  paged.state_bytes = group.geometry.state_bytes;
  paged.block_bytes = group.BlockBytes();
  return paged;
}

// Rows of some bytes where the run counts rows only.
void AssumeBytes(std::vector<PagedGroup>* groups) {
  int64_t block = 0;
  for (const PagedGroup& group : *groups) {
    const int64_t rows = group.holds_rows() ? group.block_tokens : 1;
    block = std::max(block, rows * kAssumedRowBytes);
  }
  for (PagedGroup& group : *groups) {
    group.row_bytes = group.holds_rows() ? kAssumedRowBytes : 0;
    group.state_bytes = group.holds_rows() ? 0 : block;
    group.block_bytes = block;
  }
}

}  // namespace

std::vector<PagedGroup> PagedGroupsOf(const vllm::Settings& settings,
                                      const std::vector<int64_t>& layers,
                                      bool bytes_known) {
  std::vector<PagedGroup> groups;
  for (const vllm::CacheGroup& group : settings.groups) {
    PagedGroup& paged = groups.emplace_back(PagedGroupOf(group));
    if (groups.size() <= layers.size()) {
      paged.layers = std::max<int64_t>(1, layers[groups.size() - 1]);
    }
  }
  if (!bytes_known) AssumeBytes(&groups);
  return groups;
}

absl::StatusOr<std::optional<CostTable>> CostTableOf(const std::string& cost,
                                                     bool bytes_known) {
  if (cost.empty()) return std::nullopt;
  if (!absl::StartsWith(cost, kTable) || cost == kTable) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--cost '", cost,
        "': accepted: table:FILE, of `kvsim paging calibrate --out FILE`"));
  }
  if (!bytes_known) {
    return UsageError(
        "--cost prices bytes: it needs --model or --kv-bytes-per-token");
  }
  absl::StatusOr<CostTable> table =
      CostTable::Read(cost.substr(sizeof(kTable) - 1));
  if (!table.ok()) {
    return absl::Status(table.status().code(),
                        absl::StrCat("--cost ", table.status().message()));
  }
  return *std::move(table);
}

}  // namespace kvsim
