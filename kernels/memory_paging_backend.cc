#include "kernels/memory_paging_backend.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "kernels/page_op_check.h"

namespace kvsim {
namespace {

std::string Hex(Stamp stamp) {
  return absl::StrCat("0x", absl::Hex(stamp, absl::kZeroPad16));
}

// The blocks that rows [first, end) are read from.
std::span<const BlockId> Entries(std::span<const BlockId> table, int64_t first,
                                 int64_t end, int64_t block_tokens) {
  if (first >= end) return {};
  const int64_t begin = first / block_tokens;
  return table.subspan(
      static_cast<size_t>(begin),
      static_cast<size_t>((end - 1) / block_tokens + 1 - begin));
}

}  // namespace

MemoryPagingBackend::MemoryPagingBackend(std::vector<PoolShape> pools,
                                         std::unique_ptr<PagingDevice> device)
    : pools_(std::move(pools)), device_(std::move(device)) {
  const absl::Status valid = ValidatePoolShapes(pools_);
  KVSIM_CHECK(valid.ok()) << valid.message();
  for (const PoolShape& pool : pools_) {
    const auto arena = static_cast<size_t>(pool.arena);
    if (arenas_.size() <= arena) arenas_.resize(arena + 1);
    arenas_[arena].resize(static_cast<size_t>(pool.num_blocks));
  }
  leases_.resize(arenas_.size());
}

absl::Status MemoryPagingBackend::Execute(std::span<const PageOp> ops) {
  for (size_t i = 0; i < ops.size(); ++i) {
    absl::Status status = CheckPageOp(ops[i], pools_);
    if (status.ok()) {
      status = std::visit([this](const auto& op) { return Run(op); }, ops[i]);
    }
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat("op ", i, ": ", status.message()));
    }
    totals_[static_cast<size_t>(KindOf(ops[i]))] += TrafficOf(ops[i], pools_);
    ++op_;
  }
  return absl::OkStatus();
}

// --- who owns what ----------------------------------------------------------------

MemoryPagingBackend::Leases* MemoryPagingBackend::LeasesOf(
    PoolIndex pool, SequenceId sequence) {
  auto& leases = leases_[static_cast<size_t>(Pool(pool).arena)];
  const auto found = leases.find(sequence);
  return found == leases.end() ? nullptr : &found->second;
}

absl::Status MemoryPagingBackend::Broken(PoolIndex pool, PageOpKind kind,
                                         BlockId block,
                                         const std::string& what) {
  std::string message =
      absl::StrCat(PageOpKindName(kind), " in pool \"", Pool(pool).name,
                   "\": block ", block, " ", what);
  const Block& state = At(pool, block);
  if (state.writer != kNobody) {
    absl::StrAppend(&message, "; last written by sequence ", state.writer, " (",
                    PageOpKindName(state.written_by), ", operation ",
                    state.written_at, " of the run)");
  }
  return absl::DataLossError(message);
}

absl::Status MemoryPagingBackend::Run(const AssignBlocks& op) {
  if (op.blocks.empty()) return absl::OkStatus();
  Leases& leases =
      leases_[static_cast<size_t>(Pool(op.pool).arena)][op.sequence];
  std::vector<uint64_t> owners, generations;
  for (const BlockId id : op.blocks) {
    Block& block = At(op.pool, id);
    if (!op.shared) {
      if (!block.holders.empty()) {
        return Broken(
            op.pool, PageOpKind::kAssignBlocks, id,
            absl::StrCat("is given to sequence ", op.sequence,
                         " while sequence ", block.holders[0], " owns it"));
      }
      block.owner = op.sequence;
      ++block.generation;
    } else if (block.owner == kNobody) {
      return Broken(op.pool, PageOpKind::kAssignBlocks, id,
                    absl::StrCat("is shared with sequence ", op.sequence,
                                 " but was never given to anyone"));
    }
    if (!leases.try_emplace(id, Lease{block.owner, block.generation}).second) {
      return Broken(op.pool, PageOpKind::kAssignBlocks, id,
                    absl::StrCat("is given to sequence ", op.sequence,
                                 " which owns it already"));
    }
    block.holders.push_back(op.sequence);
    owners.push_back(static_cast<uint64_t>(block.owner));
    generations.push_back(block.generation);
  }
  if (op.shared) return absl::OkStatus();
  return device_->StampBlocks(op.pool, op.blocks, owners, generations);
}

absl::Status MemoryPagingBackend::Run(const ReleaseBlocks& op) {
  Leases* const leases = LeasesOf(op.pool, op.sequence);
  for (const BlockId id : op.blocks) {
    if (leases == nullptr || leases->erase(id) == 0) {
      return Broken(op.pool, PageOpKind::kReleaseBlocks, id,
                    absl::StrCat("is given back by sequence ", op.sequence,
                                 " which does not own it"));
    }
    std::erase(At(op.pool, id).holders, op.sequence);
  }
  if (leases != nullptr && leases->empty()) {
    leases_[static_cast<size_t>(Pool(op.pool).arena)].erase(op.sequence);
  }
  return absl::OkStatus();
}

absl::Status MemoryPagingBackend::MayWrite(PoolIndex pool, SequenceId sequence,
                                           Blocks blocks, PageOpKind kind) {
  if (leases_[static_cast<size_t>(Pool(pool).arena)].empty()) {
    return absl::OkStatus();
  }
  for (const BlockId id : blocks) {
    const std::vector<SequenceId>& holders = At(pool, id).holders;
    if (holders.size() == 1 && holders[0] == sequence) continue;
    const auto other =
        std::find_if(holders.begin(), holders.end(),
                     [&](SequenceId holder) { return holder != sequence; });
    return Broken(
        pool, kind, id,
        absl::StrCat("is written by sequence ", sequence, " while ",
                     other == holders.end()
                         ? "nobody owns it"
                         : absl::StrCat("sequence ", *other, " owns it")));
  }
  return absl::OkStatus();
}

absl::Status MemoryPagingBackend::MayRead(PoolIndex pool, SequenceId sequence,
                                          Blocks blocks, PageOpKind kind) {
  if (blocks.empty() ||
      leases_[static_cast<size_t>(Pool(pool).arena)].empty()) {
    return absl::OkStatus();
  }
  const Leases* const leases = LeasesOf(pool, sequence);
  std::vector<uint64_t> owners, generations;
  for (const BlockId id : blocks) {
    const auto found =
        leases == nullptr ? Leases::const_iterator() : leases->find(id);
    if (leases == nullptr || found == leases->end()) {
      return Broken(pool, kind, id,
                    absl::StrCat("is read by sequence ", sequence,
                                 " which does not own it"));
    }
    owners.push_back(static_cast<uint64_t>(found->second.owner));
    generations.push_back(found->second.generation);
  }
  const absl::StatusOr<std::vector<BlockVerdict>> verdicts =
      device_->VerifyBlocks(pool, blocks, owners, generations);
  if (!verdicts.ok()) return verdicts.status();
  for (size_t i = 0; i < blocks.size(); ++i) {
    const std::string by = absl::StrCat("is read by sequence ", sequence);
    const SequenceId owner = At(pool, blocks[i]).owner;
    switch ((*verdicts)[i]) {
      case BlockVerdict::kOk:
        break;
      case BlockVerdict::kWrongOwner:
        return Broken(pool, kind, blocks[i],
                      absl::StrCat(by, " as sequence ", owners[i],
                                   "'s, but belongs to sequence ", owner));
      case BlockVerdict::kStaleGeneration:
        return Broken(
            pool, kind, blocks[i],
            absl::StrCat(by,
                         " through a stale table: it was given to sequence ",
                         owner, " again since"));
      case BlockVerdict::kTornContents:
        return Broken(pool, kind, blocks[i],
                      absl::StrCat(by,
                                   " and its bytes are not those that "
                                   "were written"));
    }
  }
  return absl::OkStatus();
}

absl::Status MemoryPagingBackend::Written(PoolIndex pool, SequenceId sequence,
                                          Blocks blocks, PageOpKind kind) {
  std::vector<uint64_t> owners, generations;
  for (const BlockId id : blocks) {
    Block& block = At(pool, id);
    block.writer = sequence;
    block.written_by = kind;
    block.written_at = op_;
    owners.push_back(static_cast<uint64_t>(block.owner));
    generations.push_back(block.generation);
  }
  if (blocks.empty()) return absl::OkStatus();
  return device_->StampBlocks(pool, blocks, owners, generations);
}

// --- rows -------------------------------------------------------------------------

absl::Status MemoryPagingBackend::Run(const WriteTokens& op) {
  const int64_t block_tokens = Pool(op.pool).block_tokens;
  std::vector<BlockId> blocks;
  for (const int64_t slot : op.slots) {
    if (slot == kNoSlot) continue;
    const auto block = static_cast<BlockId>(slot / block_tokens);
    if (blocks.empty() || blocks.back() != block) blocks.push_back(block);
  }
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  absl::Status status =
      MayWrite(op.pool, op.sequence, blocks, PageOpKind::kWriteTokens);
  if (!status.ok() || op.stamps.empty()) return status;
  status = device_->WriteRows(op.pool, op.slots, op.stamps);
  if (!status.ok()) return status;
  return Written(op.pool, op.sequence, blocks, PageOpKind::kWriteTokens);
}

absl::Status MemoryPagingBackend::Run(const GatherSequence& op) {
  return ReadRows(op.pool, op.sequence, op.block_table, op.first_position,
                  op.end_position, op.stamps, PageOpKind::kGatherSequence);
}

absl::Status MemoryPagingBackend::ReadRows(PoolIndex pool, SequenceId sequence,
                                           Blocks table, int64_t first,
                                           int64_t end,
                                           std::span<const Stamp> stamps,
                                           PageOpKind kind) {
  const int64_t block_tokens = Pool(pool).block_tokens;
  absl::Status status =
      MayRead(pool, sequence, Entries(table, first, end, block_tokens), kind);
  if (!status.ok()) return status;
  const absl::StatusOr<std::optional<RowFault>> read =
      device_->ReadRows(pool, table, first, end, stamps);
  if (!read.ok()) return read.status();
  if (!read->has_value()) return absl::OkStatus();
  const RowFault& fault = **read;
  const int64_t position = first + fault.row;
  const BlockId block = table[static_cast<size_t>(position / block_tokens)];
  const Stamp expected = stamps[static_cast<size_t>(fault.row)];
  const bool state = Pool(pool).contents == PoolContents::kStates;
  return Broken(
      pool, kind, block,
      absl::StrCat(state ? ""
                         : absl::StrCat("row ", position % block_tokens,
                                        ", position ", position, " "),
                   "of sequence ", sequence, ": expected ", Hex(expected),
                   fault.found == expected
                       ? ", found its first bytes and then others"
                       : absl::StrCat(", found ", Hex(fault.found))));
}

absl::Status MemoryPagingBackend::Run(const CopyBlock& op) {
  if (op.source == op.target || op.rows == 0) return absl::OkStatus();
  const std::pair<BlockId, BlockId> pair(op.source, op.target);
  const absl::Status status = device_->CopyBlocks(
      op.pool, std::span(&pair, 1), op.rows * Pool(op.pool).row_bytes);
  if (!status.ok()) return status;
  return Written(op.pool, At(op.pool, op.source).writer,
                 std::span(&op.target, 1), PageOpKind::kCopyBlock);
}

absl::Status MemoryPagingBackend::Run(const MoveBlocks& op) {
  absl::Status status = device_->MoveBlocks(op.pool, op.moves);
  if (!status.ok()) return status;
  std::vector<SequenceId> writers;  // before any of them changes
  for (const auto& move : op.moves) {
    writers.push_back(At(op.pool, move.first).writer);
  }
  for (size_t i = 0; i < writers.size(); ++i) {
    status.Update(Written(op.pool, writers[i],
                          std::span(&op.moves[i].second, 1),
                          PageOpKind::kMoveBlocks));
  }
  return status;
}

absl::Status MemoryPagingBackend::Run(const SwapBlocks& op) {
  absl::Status status = device_->SwapBlocks(op.pool, op.blocks, op.direction);
  if (!status.ok() || op.direction == SwapDirection::kToHost) return status;
  for (const auto& [block, host] : op.blocks) {
    status.Update(Written(op.pool, At(op.pool, block).owner,
                          std::span(&block, 1), PageOpKind::kSwapBlocks));
  }
  return status;
}

// --- states -----------------------------------------------------------------------

absl::Status MemoryPagingBackend::WriteRow(PoolIndex pool, SequenceId sequence,
                                           BlockId block, Stamp stamp,
                                           PageOpKind kind) {
  absl::Status status = MayWrite(pool, sequence, std::span(&block, 1), kind);
  if (!status.ok()) return status;
  const int64_t slot = block;
  status = device_->WriteRows(pool, std::span(&slot, 1), std::span(&stamp, 1));
  if (!status.ok()) return status;
  return Written(pool, sequence, std::span(&block, 1), kind);
}

absl::Status MemoryPagingBackend::Run(const UpdateState& op) {
  constexpr PageOpKind kKind = PageOpKind::kUpdateState;
  if (op.source.has_value()) {
    const Stamp expected = op.before.value_or(0);
    const absl::Status status =
        ReadRows(op.pool, op.sequence, std::span(&*op.source, 1), 0, 1,
                 std::span(&expected, op.before.has_value() ? 1 : 0), kKind);
    if (!status.ok()) return status;
  }
  if (!op.after.has_value()) return absl::OkStatus();
  return WriteRow(op.pool, op.sequence, op.running, *op.after, kKind);
}

absl::Status MemoryPagingBackend::Run(const SaveState& op) {
  constexpr PageOpKind kKind = PageOpKind::kSaveState;
  absl::Status status =
      MayRead(op.pool, op.sequence, std::span(&op.running, 1), kKind);
  status.Update(
      MayWrite(op.pool, op.sequence, std::span(&op.checkpoint, 1), kKind));
  if (!status.ok()) return status;
  const std::pair<BlockId, BlockId> pair(op.running, op.checkpoint);
  status = device_->CopyBlocks(op.pool, std::span(&pair, 1),
                               Pool(op.pool).row_bytes);
  if (!status.ok()) return status;
  return Written(op.pool, op.sequence, std::span(&op.checkpoint, 1), kKind);
}

absl::Status MemoryPagingBackend::Run(const RestoreState& op) {
  constexpr PageOpKind kKind = PageOpKind::kRestoreState;
  const Stamp expected = op.stamp.value_or(0);
  absl::Status status =
      ReadRows(op.pool, op.sequence, std::span(&op.checkpoint, 1), 0, 1,
               std::span(&expected, op.stamp.has_value() ? 1 : 0), kKind);
  status.Update(
      MayWrite(op.pool, op.sequence, std::span(&op.running, 1), kKind));
  if (!status.ok()) return status;
  const std::pair<BlockId, BlockId> pair(op.checkpoint, op.running);
  status = device_->CopyBlocks(op.pool, std::span(&pair, 1),
                               Pool(op.pool).row_bytes);
  if (!status.ok()) return status;
  return Written(op.pool, op.sequence, std::span(&op.running, 1), kKind);
}

absl::Status MemoryPagingBackend::Run(const HashPrefix& op) {
  return device_->HashPrefix(op.block_tokens, op.salt, op.token_ids).status();
}

}  // namespace kvsim
