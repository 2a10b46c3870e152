#include "engines/vllm/planned_settings.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kvsim::vllm {
namespace {

using PlanGroup = ::kvsim::CacheGroup;

// Tokens of the sequence that one block stands for.
int64_t CoveredTokens(const PlanGroup& group) {
  return group.demand.block_tokens.value() * group.demand.sharded_over;
}

// The planner's words for the kinds, and what the replay makes of them.
GroupKind KindOf(const PlanGroup& group) {
  if (group.kind == "mamba") return GroupKind::kRecurrent;
  switch (group.demand.kind) {
    case BlockDemand::Kind::kWindow:
      return GroupKind::kSlidingWindow;
    case BlockDemand::Kind::kChunk:
      return GroupKind::kChunkedLocal;
    case BlockDemand::Kind::kPerSequence:
      return GroupKind::kCross;
    case BlockDemand::Kind::kAllHistory:
      break;
  }
  return GroupKind::kFull;
}

// A constant number of blocks is as many tokens of an encoder; what has no rows is
// one token.
int64_t EncoderTokens(const BlockDemand& demand) {
  return std::max<int64_t>(demand.reach.value(), 1);
}

BlockGeometry GeometryOf(const PlanGroup& group, GroupKind kind) {
  BlockGeometry bytes;
  bytes.page_padding = group.page_padding.value();
  bytes.slot_padding = group.slot_padding.value();
  bytes.row_bytes = 0;
  if (kind == GroupKind::kRecurrent) {
    bytes.state_bytes = group.used.value();
    return bytes;
  }
  const int64_t tokens = CoveredTokens(group);
  bytes.row_bytes = group.used.value() / tokens;
  bytes.page_padding += group.used.value() % tokens;
  return bytes;
}

CacheGroup GroupOf(const PlanGroup& planned, const Resolved& resolved,
                   int64_t max_model_len) {
  CacheGroup group;
  group.kind = KindOf(planned);
  group.block_tokens = CoveredTokens(planned);
  const int64_t reach = planned.demand.reach.value();
  switch (group.kind) {
    case GroupKind::kSlidingWindow:
      group.window = reach + 1;
      break;
    case GroupKind::kChunkedLocal:
      group.chunk = reach;
      break;
    case GroupKind::kCross:
      group.encoder_tokens = EncoderTokens(planned.demand);
      break;
    case GroupKind::kRecurrent:
      group.state_mode = resolved.state_mode;
      if (resolved.state_mode == StateMode::kNone) {
        group.block_tokens = max_model_len;
      }
      break;
    case GroupKind::kFull:
      break;
  }
  group.geometry = GeometryOf(planned, group.kind);
  return group;
}

// Blocks that were asked for may be more than the memory would hold.
int64_t PoolBytes(const PoolPlan& plan) {
  const Bytes memory = plan.ranks[plan.binding_rank].kv_memory;
  const absl::int128 blocks =
      absl::int128(plan.num_blocks.value()) * plan.bytes_per_block.value();
  return blocks > memory.value() ? 0 : memory.value();
}

bool IsSharded(const PoolPlan& plan) {
  return std::any_of(
      plan.groups.begin(), plan.groups.end(),
      [](const PlanGroup& group) { return group.demand.sharded_over > 1; });
}

}  // namespace

absl::StatusOr<Settings> PlannedSettings(const PoolPlan& plan,
                                         const Resolved& resolved,
                                         const Settings& asked) {
  if (plan.refused.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the engine refuses to start: ", plan.refused->message));
  }
  if (resolved.switches.previous_engine) {
    return absl::UnimplementedError(absl::StrCat(
        "--engine-version '", resolved.version,
        "': its V0 scheduler is not replayed; accepted: 0.8.0 and later"));
  }
  Settings settings = asked;
  settings.num_gpu_blocks = plan.num_blocks.value();
  settings.pool_bytes = PoolBytes(plan);
  settings.max_model_len = plan.max_model_len.value();
  settings.max_num_batched_tokens = resolved.max_num_batched_tokens;
  settings.max_num_seqs = resolved.max_num_seqs;
  settings.max_tokens_in_flight = plan.in_flight.value();
  settings.enable_prefix_caching = resolved.prefix_caching;
  if (IsSharded(plan)) settings.partial_hits = false;
  settings.groups.clear();
  for (const PlanGroup& group : plan.groups) {
    settings.groups.push_back(GroupOf(group, resolved, settings.max_model_len));
    const int64_t bytes = settings.groups.back().BlockBytes();
    if (bytes != plan.bytes_per_block.value()) {
      return absl::InternalError(absl::StrCat(
          "a block of the group of ", group.kind, " has ", bytes,
          " bytes, the pool's blocks ", plan.bytes_per_block.value()));
    }
  }
  settings.geometry = settings.groups[0].geometry;
  settings.block_size = settings.groups.size() == 1
                            ? settings.groups[0].block_tokens
                            : plan.block_tokens.value();
  return settings;
}

double HistoryBytesPerToken(const PoolPlan& plan) {
  double bytes = 0;
  for (const PlanGroup& group : plan.groups) {
    if (group.demand.kind != BlockDemand::Kind::kAllHistory) continue;
    if (group.kind == "mamba") continue;
    bytes += static_cast<double>(group.used.value()) /
             static_cast<double>(CoveredTokens(group));
  }
  return bytes;
}

}  // namespace kvsim::vllm
