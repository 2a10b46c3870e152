#include "kernels/page_op_traffic.h"

#include <algorithm>
#include <cstddef>

namespace kvsim {
namespace {

using Pools = std::span<const PoolShape>;

Bytes RowBytes(PoolIndex pool, Pools pools) {
  return Bytes(pools[static_cast<size_t>(pool)].row_bytes);
}

Bytes BlockBytes(PoolIndex pool, Pools pools) {
  return Bytes(pools[static_cast<size_t>(pool)].block_bytes);
}

// Items that are read in one place and written in another.
Traffic Copied(int64_t items, Bytes each) {
  return {
      .ops = 1, .items = items, .read = each * items, .written = each * items};
}

Traffic Of(const AssignBlocks& op, Pools) {
  constexpr Bytes kEntryBytes(4);
  const auto entries = static_cast<int64_t>(op.blocks.size());
  return {.ops = 1, .items = entries, .written = kEntryBytes * entries};
}

Traffic Of(const ReleaseBlocks& op, Pools) {
  return {.ops = 1, .items = static_cast<int64_t>(op.blocks.size())};
}

Traffic Of(const WriteTokens& op, Pools pools) {
  const int64_t rows =
      std::count_if(op.slots.begin(), op.slots.end(),
                    [](int64_t slot) { return slot != kNoSlot; });
  return {.ops = 1, .items = rows, .written = RowBytes(op.pool, pools) * rows};
}

Traffic Of(const GatherSequence& op, Pools pools) {
  const int64_t rows = op.end_position - op.first_position;
  return {.ops = 1, .items = rows, .read = RowBytes(op.pool, pools) * rows};
}

Traffic Of(const CopyBlock& op, Pools pools) {
  return Copied(op.source == op.target ? 0 : op.rows, RowBytes(op.pool, pools));
}

Traffic Of(const MoveBlocks& op, Pools pools) {
  const int64_t moved =
      std::count_if(op.moves.begin(), op.moves.end(),
                    [](const auto& move) { return move.first != move.second; });
  return Copied(moved, BlockBytes(op.pool, pools));
}

Traffic Of(const SwapBlocks& op, Pools pools) {
  return Copied(static_cast<int64_t>(op.blocks.size()),
                BlockBytes(op.pool, pools));
}

Traffic Of(const UpdateState& op, Pools pools) {
  Traffic traffic = Copied(1, RowBytes(op.pool, pools));
  if (!op.source.has_value()) traffic.read = Bytes();
  return traffic;
}

Traffic Of(const SaveState& op, Pools pools) {
  return Copied(1, RowBytes(op.pool, pools));
}

Traffic Of(const RestoreState& op, Pools pools) {
  return Copied(1, RowBytes(op.pool, pools));
}

Traffic Of(const HashPrefix& op, Pools) {
  constexpr Bytes kTokenBytes(4);
  constexpr Bytes kKeyBytes(8);
  const int64_t keys =
      static_cast<int64_t>(op.token_ids.size()) / op.block_tokens;
  return {.ops = 1,
          .items = keys,
          .read = kTokenBytes * keys * op.block_tokens,
          .written = kKeyBytes * keys};
}

}  // namespace

Traffic& Traffic::operator+=(const Traffic& other) {
  ops = CheckedAdd(ops, other.ops);
  items = CheckedAdd(items, other.items);
  read += other.read;
  written += other.written;
  return *this;
}

Traffic TrafficOf(const PageOp& op, std::span<const PoolShape> pools) {
  return std::visit(
      [pools](const auto& concrete) { return Of(concrete, pools); }, op);
}

}  // namespace kvsim
