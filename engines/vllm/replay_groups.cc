#include "engines/vllm/replay_groups.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace kvsim::vllm {
namespace {

using PlannedGroup = kvsim::CacheGroup;

// Two states in the worst case and one in steady decode: align mode.
StateMode ModeOf(const BlockDemand& demand) {
  if (demand.kind == BlockDemand::Kind::kAllHistory) return StateMode::kAll;
  return demand.constant_worst > demand.constant_steady ? StateMode::kAlign
                                                        : StateMode::kNone;
}

absl::Status SetRule(const PlannedGroup& planned, const PoolPlan& plan,
                     CacheGroup* group) {
  const BlockDemand& demand = planned.demand;
  group->block_tokens = demand.block_tokens.value() * demand.sharded_over;
  if (HoldsStates(planned)) {
    group->kind = GroupKind::kRecurrent;
    group->state_mode = ModeOf(demand);
    if (group->state_mode == StateMode::kNone) {
      group->block_tokens = plan.max_model_len.value();
    }
    return absl::OkStatus();
  }
  switch (demand.kind) {
    case BlockDemand::Kind::kAllHistory:
      group->kind = GroupKind::kFull;
      return absl::OkStatus();
    case BlockDemand::Kind::kWindow:
      group->kind = GroupKind::kSlidingWindow;
      group->window = demand.reach.value() + 1;
      return absl::OkStatus();
    case BlockDemand::Kind::kChunk:
      group->kind = GroupKind::kChunkedLocal;
      group->chunk = demand.reach.value();
      return absl::OkStatus();
    case BlockDemand::Kind::kPerSequence:
      break;
  }
  if (planned.kind != "cross_attention" && planned.used > Bytes(0)) {
    return absl::UnimplementedError(
        absl::StrCat("a group of kind ", planned.kind,
                     " is not replayed; accepted: full attention, windows, "
                     "chunks, recurrent states, cross attention"));
  }
  group->kind = GroupKind::kCross;
  group->encoder_tokens = std::max<int64_t>(demand.reach.value(), 1);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<CacheGroup>> ReplayGroups(const PoolPlan& plan) {
  std::vector<CacheGroup> groups;
  for (const PlannedGroup& planned : plan.groups) {
    CacheGroup group;
    const absl::Status status = SetRule(planned, plan, &group);
    if (!status.ok()) return status;
    BlockGeometry& bytes = group.geometry;
    const int64_t used = planned.used.value();
    int64_t kept = used;
    if (HoldsStates(planned)) {
      bytes.row_bytes = 0;
      bytes.state_bytes = used;
    } else {
      bytes.row_bytes = used / group.block_tokens;
      kept = bytes.row_bytes * group.block_tokens;
    }
    bytes.slot_padding = planned.slot_padding.value();
    bytes.page_padding =
        plan.bytes_per_block.value() - kept - bytes.slot_padding;
    groups.push_back(group);
  }
  return groups;
}

}  // namespace kvsim::vllm
