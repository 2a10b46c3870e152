#include "engines/vllm/cache_group.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/units.h"

namespace kvsim::vllm {

const char* GroupKindName(GroupKind kind) {
  switch (kind) {
    case GroupKind::kFull:
      return "full";
    case GroupKind::kSlidingWindow:
      return "sliding_window";
    case GroupKind::kChunkedLocal:
      return "chunked_local";
    case GroupKind::kRecurrent:
      return "recurrent";
    case GroupKind::kCross:
      return "cross";
  }
  return "?";
}

bool CacheGroup::SameRule(const CacheGroup& other) const {
  return kind == other.kind && block_tokens == other.block_tokens &&
         window == other.window && extra_window == other.extra_window &&
         chunk == other.chunk && encoder_tokens == other.encoder_tokens &&
         (kind != GroupKind::kRecurrent || state_mode == other.state_mode);
}

int64_t CacheGroup::BlockBytes() const {
  const int64_t rows =
      kind == GroupKind::kRecurrent ? 0 : geometry.row_bytes * block_tokens;
  const int64_t state =
      kind == GroupKind::kRecurrent ? geometry.state_bytes : 0;
  return rows + state + geometry.page_padding + geometry.slot_padding;
}

int64_t CacheGroup::TailBlocks() const {
  return kind == GroupKind::kSlidingWindow ? CeilDiv(window - 1, block_tokens)
                                           : 1;
}

namespace {

// Keys may be finer than blocks only while a state can be found at a block's end.
bool AllStatesAligned(const std::vector<CacheGroup>& groups) {
  for (const CacheGroup& group : groups) {
    if (group.kind == GroupKind::kRecurrent &&
        group.state_mode != StateMode::kAlign) {
      return false;
    }
  }
  return true;
}

}  // namespace

absl::Status ComputeUnits(const std::vector<CacheGroup>& groups,
                          std::optional<int64_t> prefix_match_unit,
                          CacheUnits* units) {
  int64_t lcm = 1, gcd = 0;
  for (const CacheGroup& group : groups) {
    if (group.kind == GroupKind::kCross) continue;
    lcm = std::lcm(lcm, group.block_tokens);
    gcd = std::gcd(gcd, group.block_tokens);
  }
  *units = {lcm, lcm, false};
  if (gcd == 0 || !AllStatesAligned(groups)) return absl::OkStatus();
  units->hash_tokens = prefix_match_unit.value_or(gcd);
  for (const CacheGroup& group : groups) {
    if (group.kind == GroupKind::kCross) continue;
    if (group.block_tokens % units->hash_tokens != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--prefix-match-unit is ", units->hash_tokens,
          "; accepted: a divisor of every group's block size, and a group has "
          "blocks of ",
          group.block_tokens, " tokens"));
    }
  }
  units->fine_hits = units->hash_tokens < units->scheduler_tokens;
  for (const CacheGroup& group : groups) {
    const bool windowed = group.kind == GroupKind::kSlidingWindow ||
                          group.kind == GroupKind::kChunkedLocal;
    if (windowed && group.block_tokens != units->hash_tokens) {
      units->fine_hits = false;
    }
  }
  return absl::OkStatus();
}

}  // namespace kvsim::vllm
