#include "engines/pool_plan.h"

#include <algorithm>
#include <utility>

#include "absl/numeric/int128.h"

namespace kvsim {

Blocks PoolPlan::UsableBlocks(size_t pool) const {
  const Blocks usable = pool == 0 ? num_blocks - reserved_blocks
                                  : side_pools[pool - 1].num_blocks -
                                        side_pools[pool - 1].reserved_blocks;
  return usable < Blocks(0) ? Blocks(0) : usable;
}

Bytes PoolPlan::BlockBytes(size_t pool) const {
  return pool == 0 ? bytes_per_block : side_pools[pool - 1].bytes_per_block;
}

bool HoldsStates(const CacheGroup& group) { return group.kind == "mamba"; }

bool HoldsStates(const PoolPlan& plan) {
  return std::any_of(
      plan.groups.begin(), plan.groups.end(),
      [](const CacheGroup& group) { return HoldsStates(group); });
}

void AddPool(CacheGroup group, Blocks blocks, Blocks reserved, PoolPlan& plan) {
  if (plan.groups.empty()) {
    plan.num_blocks = blocks;
    plan.reserved_blocks = reserved;
    plan.bytes_per_block = plan.page = group.page;
  } else {
    group.pool = plan.NumPools();
    plan.side_pools.push_back({group.kind, blocks, reserved, group.page});
  }
  plan.groups.push_back(std::move(group));
}

Blocks WorstCaseBlocks(const PoolPlan& plan, Tokens length, size_t pool) {
  Blocks blocks(0);
  for (const CacheGroup& group : plan.groups) {
    if (group.pool != pool) continue;
    blocks += WorstCaseBlocks(group.demand, length, plan.in_flight);
  }
  return blocks;
}

Blocks LoggedBlocks(const PoolPlan& plan, Tokens length) {
  if (plan.log_block == Bytes(0)) return WorstCaseBlocks(plan, length);
  absl::int128 bytes = 0;
  for (const CacheGroup& group : plan.groups) {
    if (group.pool != 0) continue;
    const Blocks blocks = WorstCaseBlocks(group.demand, length, plan.in_flight);
    bytes += absl::int128(blocks.value()) * group.log_charge.value();
  }
  const absl::int128 block = plan.log_block.value();
  return Blocks(static_cast<int64_t>((bytes + block - 1) / block));
}

Blocks SteadyBlocks(const PoolPlan& plan, Tokens length, size_t pool) {
  Blocks blocks(0);
  for (const CacheGroup& group : plan.groups) {
    if (group.pool != pool) continue;
    blocks += SteadyBlocks(group.demand, length, plan.decode_in_flight);
  }
  return blocks;
}

}  // namespace kvsim
