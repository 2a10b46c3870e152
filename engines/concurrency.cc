#include "engines/concurrency.h"

#include <algorithm>

#include "base/check.h"

namespace kvsim {
namespace {

// Bytes of rows and states that `tokens` of one request take in a group.
double GroupBytes(const CacheGroup& group, Tokens tokens) {
  const auto used = static_cast<double>(group.used.value());
  const BlockDemand& demand = group.demand;
  auto kept = static_cast<double>(tokens.value());
  switch (demand.kind) {
    case BlockDemand::Kind::kAllHistory:
      kept /= static_cast<double>(demand.sharded_over);
      break;
    case BlockDemand::Kind::kWindow:
      kept = std::min(kept, static_cast<double>(demand.reach.value() + 1));
      break;
    case BlockDemand::Kind::kChunk:
      kept = std::min(kept, static_cast<double>(demand.reach.value()));
      break;
    case BlockDemand::Kind::kPerSequence:
      return used * static_cast<double>(demand.constant_steady.value());
  }
  return used * kept / static_cast<double>(demand.block_tokens.value());
}

// Bytes of a request, and of what a prefix of `shared` tokens lets it share.
struct IdealBytes {
  double request = 0;
  double shared = 0;
};

IdealBytes SumIdealBytes(const PoolPlan& plan, Tokens length, Tokens shared) {
  IdealBytes bytes;
  for (const CacheGroup& group : plan.groups) {
    bytes.request += GroupBytes(group, length);
    if (group.demand.kind == BlockDemand::Kind::kAllHistory) {
      bytes.shared += GroupBytes(group, shared);
    }
  }
  return bytes;
}

Blocks SharedBlocks(const PoolPlan& plan, Tokens shared, size_t pool) {
  Blocks blocks(0);
  for (const CacheGroup& group : plan.groups) {
    if (group.pool != pool) continue;
    blocks += ShareableBlocks(group.demand, shared);
  }
  return blocks;
}

// The largest n >= 0 with shared + n * own <= room.
int64_t CountThatFit(Blocks room, Blocks shared, Blocks own) {
  if (room < shared + own) return 0;
  return (room - shared) / own;
}

// What one pool answers.
struct PoolCount {
  double engine_line = 0;
  int64_t resident = 0;
  int64_t admitted = 0;
  Blocks worst, steady, shared;
};

PoolCount CountInPool(const PoolPlan& plan, Tokens length, Tokens shared_prefix,
                      size_t pool) {
  PoolCount count;
  count.worst = WorstCaseBlocks(plan, length, pool);
  count.steady = SteadyBlocks(plan, length, pool);
  count.shared = SharedBlocks(plan, shared_prefix, pool);
  const Blocks all =
      pool == 0 ? plan.num_blocks : plan.side_pools[pool - 1].num_blocks;
  const Blocks logged = pool == 0 ? LoggedBlocks(plan, length) : count.worst;
  count.engine_line =
      static_cast<double>(all.value()) / static_cast<double>(logged.value());
  const Blocks usable = plan.UsableBlocks(pool);
  const Blocks own = std::max(count.steady - count.shared, Blocks(1));
  count.resident = CountThatFit(usable, count.shared, own);
  if (count.worst <= usable) count.admitted = 1 + (usable - count.worst) / own;
  return count;
}

Blocks FixedBlocksIn(const PoolPlan& plan, size_t pool) {
  constexpr Tokens kLong{int64_t{1} << 40};
  Blocks blocks(0);
  for (const CacheGroup& group : plan.groups) {
    if (group.pool != pool) continue;
    if (group.demand.kind == BlockDemand::Kind::kAllHistory) {
      blocks += group.demand.constant_steady;
    } else {
      blocks += SteadyBlocks(group.demand, kLong, plan.decode_in_flight);
    }
  }
  return blocks;
}

}  // namespace

Concurrency CountRequests(const PoolPlan& plan, Tokens length,
                          Tokens shared_prefix, int64_t max_num_seqs) {
  KVSIM_CHECK(length >= Tokens(1) && shared_prefix >= Tokens(0));
  // The last token is always computed, so its block is the request's own.
  const Tokens shared = std::min(shared_prefix, length - Tokens(1));
  const PoolCount main = CountInPool(plan, length, shared, 0);
  Concurrency count;
  count.length = length;
  count.worst_blocks = main.worst;
  count.steady_blocks = main.steady;
  count.shared_blocks = main.shared;
  count.engine_line = main.engine_line;
  count.resident = main.resident;
  count.admitted = std::min(main.admitted, max_num_seqs);
  for (size_t pool = 1; pool < plan.NumPools(); ++pool) {
    const PoolCount beside = CountInPool(plan, length, shared, pool);
    count.engine_line = std::min(count.engine_line, beside.engine_line);
    count.resident = std::min(count.resident, beside.resident);
    count.admitted = std::min(count.admitted, beside.admitted);
  }
  count.sequence_limit_binds = count.resident > max_num_seqs;
  const IdealBytes bytes = SumIdealBytes(plan, length, shared);
  const auto pool =
      static_cast<double>(plan.ranks[plan.binding_rank].kv_memory.value());
  count.ideal_bytes = bytes.request < 0x1p62
                          ? Bytes(static_cast<int64_t>(bytes.request))
                          : Bytes::Max();
  if (pool > bytes.shared) {
    count.ideal = (pool - bytes.shared) / (bytes.request - bytes.shared);
  }
  return count;
}

double PoolBytesPerToken(const PoolPlan& plan) {
  double bytes = 0;
  for (const CacheGroup& group : plan.groups) {
    if (group.demand.kind != BlockDemand::Kind::kAllHistory) continue;
    bytes += static_cast<double>(plan.BlockBytes(group.pool).value()) /
             static_cast<double>(group.demand.block_tokens.value() *
                                 group.demand.sharded_over);
  }
  return bytes;
}

Blocks FixedBlocks(const PoolPlan& plan) { return FixedBlocksIn(plan, 0); }

Bytes FixedBytes(const PoolPlan& plan) {
  Bytes bytes(0);
  for (size_t pool = 0; pool < plan.NumPools(); ++pool) {
    bytes += plan.BlockBytes(pool) * FixedBlocksIn(plan, pool).value();
  }
  return bytes;
}

}  // namespace kvsim
