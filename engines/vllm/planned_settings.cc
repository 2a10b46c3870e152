#include "engines/vllm/planned_settings.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engines/vllm/replay_groups.h"

namespace kvsim::vllm {
namespace {

using PlanGroup = ::kvsim::CacheGroup;

// Tokens of the sequence that one block stands for.
int64_t CoveredTokens(const PlanGroup& group) {
  return group.demand.block_tokens.value() * group.demand.sharded_over;
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
  absl::StatusOr<std::vector<CacheGroup>> groups = ReplayGroups(plan);
  if (!groups.ok()) return groups.status();
  settings.groups = *std::move(groups);
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
