#include "engines/block_demand.h"

#include <algorithm>

namespace kvsim {
namespace {

// Tokens of the sequence that one block stands for.
Tokens Covered(const BlockDemand& demand) {
  return demand.block_tokens * demand.sharded_over;
}

// ceil(ceil(length / ranks) / block), in the engine's order of rounding.
Blocks HistoryBlocks(const BlockDemand& demand, Tokens length) {
  const int64_t share = CeilDiv(length.value(), demand.sharded_over);
  return Blocks(CeilDiv(share, demand.block_tokens.value()));
}

Blocks GrowingBlocks(const BlockDemand& demand, Tokens length,
                     Tokens in_flight) {
  switch (demand.kind) {
    case BlockDemand::Kind::kAllHistory:
      return HistoryBlocks(demand, length);
    case BlockDemand::Kind::kWindow:
    case BlockDemand::Kind::kChunk: {
      const Tokens kept = std::min(demand.reach + in_flight, length);
      return Blocks(CeilDiv(kept, demand.block_tokens));
    }
    case BlockDemand::Kind::kPerSequence:
      break;
  }
  return Blocks(0);
}

}  // namespace

Blocks WorstCaseBlocks(const BlockDemand& demand, Tokens length,
                       Tokens in_flight) {
  return GrowingBlocks(demand, length, in_flight) + demand.constant_worst;
}

Blocks SteadyBlocks(const BlockDemand& demand, Tokens length,
                    Tokens in_flight) {
  const Blocks blocks =
      GrowingBlocks(demand, length, in_flight) + demand.constant_steady;
  if (demand.kind == BlockDemand::Kind::kWindow) {
    return std::min(blocks, HistoryBlocks(demand, length));
  }
  return blocks;
}

Blocks ShareableBlocks(const BlockDemand& demand, Tokens prefix) {
  if (demand.kind != BlockDemand::Kind::kAllHistory) return Blocks(0);
  return Blocks(prefix / Covered(demand));
}

}  // namespace kvsim
