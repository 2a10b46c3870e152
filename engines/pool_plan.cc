#include "engines/pool_plan.h"

#include "absl/numeric/int128.h"

namespace kvsim {

Blocks WorstCaseBlocks(const PoolPlan& plan, Tokens length) {
  Blocks blocks(0);
  for (const CacheGroup& group : plan.groups) {
    blocks += WorstCaseBlocks(group.demand, length, plan.in_flight);
  }
  return blocks;
}

Blocks LoggedBlocks(const PoolPlan& plan, Tokens length) {
  if (plan.log_block == Bytes(0)) return WorstCaseBlocks(plan, length);
  absl::int128 bytes = 0;
  for (const CacheGroup& group : plan.groups) {
    const Blocks blocks = WorstCaseBlocks(group.demand, length, plan.in_flight);
    bytes += absl::int128(blocks.value()) * group.log_charge.value();
  }
  const absl::int128 block = plan.log_block.value();
  return Blocks(static_cast<int64_t>((bytes + block - 1) / block));
}

Blocks SteadyBlocks(const PoolPlan& plan, Tokens length) {
  Blocks blocks(0);
  for (const CacheGroup& group : plan.groups) {
    blocks += SteadyBlocks(group.demand, length, plan.decode_in_flight);
  }
  return blocks;
}

}  // namespace kvsim
