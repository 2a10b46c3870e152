#include "kernels/page_op_check.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kvsim {
namespace {

// Collects what one op gets wrong; the first mistake stands.
class OpChecker {
 public:
  OpChecker(PageOpKind kind, std::span<const PoolShape> pools)
      : kind_(kind), pools_(pools) {}

  absl::Status Take() { return std::move(status_); }

  // The op's pool, or null after reporting that it is none of ours.
  const PoolShape* Pool(PoolIndex pool, PoolContents contents) {
    if (pool < 0 || static_cast<size_t>(pool) >= pools_.size()) {
      Fail(absl::StatusCode::kInvalidArgument,
           absl::StrCat("pool is ", pool, ", must be below ", pools_.size()));
      return nullptr;
    }
    pool_ = &pools_[static_cast<size_t>(pool)];
    if (pool_->contents != contents) {
      Fail(absl::StatusCode::kInvalidArgument,
           contents == PoolContents::kRows ? "pool holds states, not rows"
                                           : "pool holds rows, not states");
      return nullptr;
    }
    return pool_;
  }

  // As Pool(), for an op on whole blocks of either contents.
  const PoolShape* AnyPool(PoolIndex pool) {
    if (pool < 0 || static_cast<size_t>(pool) >= pools_.size()) {
      return Pool(pool, PoolContents::kRows);
    }
    return Pool(pool, pools_[static_cast<size_t>(pool)].contents);
  }

  void InRange(const char* field, int64_t found, int64_t end) {
    if (found >= 0 && found < end) return;
    Fail(absl::StatusCode::kOutOfRange,
         absl::StrCat(field, " is ", found, ", must be in [0, ", end, ")"));
  }

  void Require(bool holds, const std::string& message) {
    if (!holds) Fail(absl::StatusCode::kInvalidArgument, message);
  }

  void Distinct(const char* field, std::vector<int64_t> values) {
    std::sort(values.begin(), values.end());
    const auto twice = std::adjacent_find(values.begin(), values.end());
    if (twice == values.end()) return;
    Fail(absl::StatusCode::kInvalidArgument,
         absl::StrCat(field, " ", *twice, " stands twice"));
  }

  void StampsMatch(size_t stamps, size_t rows) {
    if (stamps == 0 || stamps == rows) return;
    Fail(absl::StatusCode::kInvalidArgument,
         absl::StrCat("has ", stamps, " stamps for ", rows, " rows"));
  }

 private:
  void Fail(absl::StatusCode code, const std::string& message) {
    if (!status_.ok()) return;
    std::string place = PageOpKindName(kind_);
    if (pool_ != nullptr)
      absl::StrAppend(&place, " in pool \"", pool_->name, "\"");
    status_ = absl::Status(code, absl::StrCat(place, ": ", message));
  }

  PageOpKind kind_;
  std::span<const PoolShape> pools_;
  const PoolShape* pool_ = nullptr;
  absl::Status status_;
};

void CheckOwned(const std::vector<BlockId>& blocks, const PoolShape* pool,
                OpChecker& checker) {
  if (pool == nullptr) return;
  std::vector<int64_t> distinct;
  for (const BlockId block : blocks) {
    checker.InRange("block", block, pool->num_blocks);
    distinct.push_back(block);
  }
  checker.Distinct("block", std::move(distinct));
}

void Check(const AssignBlocks& op, OpChecker& checker) {
  CheckOwned(op.blocks, checker.AnyPool(op.pool), checker);
}

void Check(const ReleaseBlocks& op, OpChecker& checker) {
  CheckOwned(op.blocks, checker.AnyPool(op.pool), checker);
}

void Check(const WriteTokens& op, OpChecker& checker) {
  const PoolShape* pool = checker.Pool(op.pool, PoolContents::kRows);
  if (pool == nullptr) return;
  const int64_t num_slots = int64_t{pool->num_blocks} * pool->block_tokens;
  std::vector<int64_t> stored;
  for (const int64_t slot : op.slots) {
    if (slot == kNoSlot) continue;
    checker.InRange("slot", slot, num_slots);
    stored.push_back(slot);
  }
  checker.Require(op.first_position >= 0, "first_position is negative");
  checker.StampsMatch(op.stamps.size(), op.slots.size());
  checker.Distinct("slot", std::move(stored));
}

void Check(const GatherSequence& op, OpChecker& checker) {
  const PoolShape* pool = checker.Pool(op.pool, PoolContents::kRows);
  if (pool == nullptr) return;
  if (op.first_position < 0 || op.first_position > op.end_position) {
    checker.Require(false, absl::StrCat("positions [", op.first_position, ", ",
                                        op.end_position, ") are no range"));
    return;
  }
  const int64_t rows = op.end_position - op.first_position;
  checker.StampsMatch(op.stamps.size(), static_cast<size_t>(rows));
  if (rows == 0) return;
  const int64_t last_entry = (op.end_position - 1) / pool->block_tokens;
  const auto table_size = static_cast<int64_t>(op.block_table.size());
  checker.InRange("block table entry", last_entry, table_size);
  // Entries before the first position are not read: a window may have let the
  // blocks go.
  for (int64_t i = op.first_position / pool->block_tokens;
       i <= last_entry && i < table_size; ++i) {
    checker.InRange("block", op.block_table[static_cast<size_t>(i)],
                    pool->num_blocks);
  }
}

void Check(const CopyBlock& op, OpChecker& checker) {
  const PoolShape* pool = checker.AnyPool(op.pool);
  if (pool == nullptr) return;
  checker.InRange("source", op.source, pool->num_blocks);
  checker.InRange("target", op.target, pool->num_blocks);
  checker.InRange("rows", op.rows, int64_t{pool->block_tokens} + 1);
}

void Check(const MoveBlocks& op, OpChecker& checker) {
  const PoolShape* pool = checker.AnyPool(op.pool);
  if (pool == nullptr) return;
  std::vector<int64_t> sources;
  std::vector<int64_t> targets;
  for (const auto& [source, target] : op.moves) {
    checker.InRange("source", source, pool->num_blocks);
    checker.InRange("target", target, pool->num_blocks);
    sources.push_back(source);
    targets.push_back(target);
  }
  checker.Distinct("source", std::move(sources));
  checker.Distinct("target", std::move(targets));
}

void Check(const SwapBlocks& op, OpChecker& checker) {
  const PoolShape* pool = checker.AnyPool(op.pool);
  if (pool == nullptr) return;
  std::vector<int64_t> targets;
  const bool to_host = op.direction == SwapDirection::kToHost;
  for (const auto& [device, host] : op.blocks) {
    checker.InRange("device block", device, pool->num_blocks);
    checker.InRange("host block", host, pool->num_host_blocks);
    targets.push_back(to_host ? host : device);
  }
  checker.Distinct("target", std::move(targets));
}

void Check(const UpdateState& op, OpChecker& checker) {
  const PoolShape* pool = checker.Pool(op.pool, PoolContents::kStates);
  if (pool == nullptr) return;
  checker.InRange("running", op.running, pool->num_blocks);
  if (op.source.has_value()) {
    checker.InRange("source", *op.source, pool->num_blocks);
  }
  checker.Require(op.position >= 0, "position is negative");
}

// SaveState and RestoreState differ only in direction.
template <typename Transfer>
void CheckStateTransfer(const Transfer& op, OpChecker& checker) {
  const PoolShape* pool = checker.Pool(op.pool, PoolContents::kStates);
  if (pool == nullptr) return;
  checker.InRange("running", op.running, pool->num_blocks);
  checker.InRange("checkpoint", op.checkpoint, pool->num_blocks);
  checker.Require(op.running != op.checkpoint,
                  "running and checkpoint are one block");
  checker.Require(op.position >= 0, "position is negative");
}

void Check(const SaveState& op, OpChecker& checker) {
  CheckStateTransfer(op, checker);
}

void Check(const RestoreState& op, OpChecker& checker) {
  CheckStateTransfer(op, checker);
}

void Check(const HashPrefix& op, OpChecker& checker) {
  checker.Require(op.block_tokens > 0, "block_tokens is not positive");
}

}  // namespace

absl::Status CheckPageOp(const PageOp& op, std::span<const PoolShape> pools) {
  OpChecker checker(KindOf(op), pools);
  std::visit([&checker](const auto& concrete) { Check(concrete, checker); },
             op);
  return checker.Take();
}

}  // namespace kvsim
