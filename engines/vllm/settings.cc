#include "engines/vllm/settings.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace kvsim::vllm {
namespace {

// 7.5 GB of bookkeeping at 56 bytes a block: what a machine can hold.
constexpr int64_t kMaxBlocks = int64_t{1} << 27;
constexpr int64_t kMaxTokens = int64_t{1} << 40;
constexpr int64_t kMaxBlockTokens = (int64_t{1} << 31) - 1;
constexpr size_t kMaxGroups = 256;

absl::Status InRange(absl::string_view flag, int64_t value, int64_t low,
                     int64_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " is ", value, "; accepted: ", low, " to ", high));
}

absl::Status ValidateGroup(const CacheGroup& group) {
  const struct {
    const char* what;
    int64_t value, low;
    bool asked;
  } kValues[] = {
      {"block size", group.block_tokens, 1, true},
      {"window", group.window, 1, group.kind == GroupKind::kSlidingWindow},
      {"attention chunk", group.chunk, 1,
       group.kind == GroupKind::kChunkedLocal},
      {"encoder length", group.encoder_tokens, 1,
       group.kind == GroupKind::kCross},
  };
  for (const auto& v : kValues) {
    if (!v.asked || (v.value >= v.low && v.value <= kMaxBlockTokens)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "a ", GroupKindName(group.kind), " group has a ", v.what, " of ",
        v.value, "; accepted: ", v.low, " to ", kMaxBlockTokens, " tokens"));
  }
  return absl::OkStatus();
}

// Every block must end where a key does. Without align mode a key spans the least
// common multiple of the blocks, so only blocks of one size can be cached.
absl::Status CheckKeys(const std::vector<CacheGroup>& groups,
                       int64_t hash_tokens) {
  for (const CacheGroup& group : groups) {
    if (group.kind == GroupKind::kCross ||
        group.block_tokens % hash_tokens == 0) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "a ", GroupKindName(group.kind), " group has blocks of ",
        group.block_tokens, " tokens, but prefix keys span ", hash_tokens,
        "; accepted with prefix caching: recurrent groups in align mode, or "
        "blocks of one size"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Settings::Validate() const {
  const struct {
    const char* flag;
    int64_t value, low, high;
  } kRanges[] = {
      {"--num-gpu-blocks", num_gpu_blocks, 2, kMaxBlocks},
      {"--block-size", block_size, 1, kMaxBlockTokens},
      {"--max-num-seqs", max_num_seqs, 1, kMaxBlockTokens},
      {"--max-num-batched-tokens", max_num_batched_tokens, 1, kMaxBlockTokens},
      {"--max-model-len", max_model_len, 2, kMaxTokens},
      {"--long-prefill-token-threshold", long_prefill_token_threshold, 0,
       kMaxTokens},
      {"the retention interval", retention_interval.value_or(0), 0, kMaxTokens},
      {"--prefix-match-unit", prefix_match_unit.value_or(1), 1,
       kMaxBlockTokens},
      {"--num-speculative-tokens", num_speculative_tokens, 0, 1024},
      {"the number of blocks in --swap-space", host_blocks, 0, kMaxBlocks},
  };
  for (const auto& r : kRanges) {
    absl::Status status = InRange(r.flag, r.value, r.low, r.high);
    if (!status.ok()) return status;
  }
  if (!(watermark >= 0.0 && watermark < 1.0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--watermark is ", watermark, "; accepted: a share from 0 to below 1"));
  }
  if (!enable_chunked_prefill && max_num_batched_tokens < max_num_seqs) {
    return absl::InvalidArgumentError(
        absl::StrCat("--max-num-batched-tokens is ", max_num_batched_tokens,
                     ", below --max-num-seqs ", max_num_seqs,
                     "; accepted: at least one token per sequence"));
  }
  if (preemption_mode == PreemptionMode::kSwap && async_scheduling) {
    return absl::InvalidArgumentError(
        "--preemption-mode swap with --async-scheduling: a request with "
        "outputs in "
        "flight has no rows to swap; accepted: --no-async-scheduling");
  }
  for (const CacheGroup& group : groups) {
    absl::Status status = ValidateGroup(group);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<Settings> Settings::Normalized() const {
  absl::Status status = Validate();
  if (!status.ok()) return status;
  Settings out = *this;
  if (out.groups.empty()) {
    out.groups.push_back({.block_tokens = block_size, .geometry = geometry});
  }
  if (out.groups.size() > kMaxGroups) {
    return absl::InvalidArgumentError(absl::StrCat(
        out.groups.size(), " cache groups; accepted: at most ", kMaxGroups));
  }
  int64_t largest = 0;
  for (const CacheGroup& group : out.groups) {
    largest = std::max(largest, group.BlockBytes());
  }
  for (CacheGroup& group : out.groups) {
    BlockGeometry& bytes = group.geometry;
    if (group.kind == GroupKind::kRecurrent && bytes.state_bytes == 0) {
      bytes.state_bytes = largest - group.BlockBytes();
    }
    bytes.slot_padding += largest - group.BlockBytes();
  }
  CacheUnits units;
  status = ComputeUnits(out.groups, prefix_match_unit, &units);
  if (!status.ok()) return status;
  if (enable_prefix_caching) {
    status = CheckKeys(out.groups, units.hash_tokens);
    if (!status.ok()) return status;
  }
  if (out.checkpoints.has_value()) {
    out.junctions = out.checkpoints->branch_points;
    return out;
  }
  if (retention_interval.value_or(0) % units.scheduler_tokens != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the retention interval is ", *retention_interval,
        "; accepted: 0 or a multiple of ", units.scheduler_tokens,
        " tokens, the least common multiple of the groups' blocks"));
  }
  return out;
}

CacheUnits Settings::Units() const {
  const std::vector<CacheGroup> alone = {{.block_tokens = block_size}};
  CacheUnits units;
  const absl::Status status =
      ComputeUnits(groups.empty() ? alone : groups, prefix_match_unit, &units);
  KVSIM_CHECK(status.ok()) << status.message();
  units.fine_hits = units.fine_hits && partial_hits;
  return units;
}

int64_t Settings::BlockBytes() const {
  if (!groups.empty()) return groups[0].BlockBytes();
  return CacheGroup{.block_tokens = block_size, .geometry = geometry}
      .BlockBytes();
}

}  // namespace kvsim::vllm
