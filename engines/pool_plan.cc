#include "engines/pool_plan.h"

namespace kvsim {

Blocks WorstCaseBlocks(const PoolPlan& plan, Tokens length) {
  Blocks blocks(0);
  for (const CacheGroup& group : plan.groups) {
    blocks += WorstCaseBlocks(group.demand, length, plan.in_flight);
  }
  return blocks;
}

Blocks SteadyBlocks(const PoolPlan& plan, Tokens length) {
  Blocks blocks(0);
  for (const CacheGroup& group : plan.groups) {
    blocks += SteadyBlocks(group.demand, length, plan.decode_in_flight);
  }
  return blocks;
}

}  // namespace kvsim
