// The backend that performs page operations on memory and proves them.
//
// Model:      everything that PagingBackend promises, on the memory of a PagingDevice,
//             the host's or a GPU's. Beside the rows' bytes it proves who may touch
//             them, from the ops alone:
//   (1) a block that is given out is nobody's, unless the op says shared; then
//       somebody has it;
//   (2) a sequence that was given blocks writes only into blocks of which it is the
//       one owner, and reads only blocks that it owns;
//   (3) the block it reads carries the tag it carried when the sequence got it
//       (kernels/stamp_blocks.h): no other owner since, and no byte of it changed by
//       anything but an op.
//             Streams without AssignBlocks are proved by their rows alone.
// Costs:      per block about 60 B of host memory; a write reads its blocks once more
//             for their check sums, a gather reads its blocks twice.
// Errors:     as PagingBackend; broken ownership is DataLoss too, naming block,
//             sequence and owner, and the op that wrote the block last.
#ifndef KVSIM_KERNELS_MEMORY_PAGING_BACKEND_H_
#define KVSIM_KERNELS_MEMORY_PAGING_BACKEND_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "kernels/paging_backend.h"
#include "kernels/paging_device.h"

namespace kvsim {

class MemoryPagingBackend final : public PagingBackend {
 public:
  // `device` has been made for the same pools. REQUIRES: ValidatePoolShapes accepts
  // them.
  MemoryPagingBackend(std::vector<PoolShape> pools,
                      std::unique_ptr<PagingDevice> device);

  const char* name() const override { return device_->name(); }
  std::span<const PoolShape> pools() const override { return pools_; }
  absl::Status Execute(std::span<const PageOp> ops) override;
  const TrafficByKind& Totals() const override { return totals_; }

 private:
  using Blocks = std::span<const BlockId>;

  // One block of an arena.
  struct Block {
    std::vector<SequenceId> holders;
    SequenceId owner = kNobody;  // whom it was given to, not shared
    uint64_t generation = 0;     // how often
    SequenceId writer = kNobody;
    PageOpKind written_by = PageOpKind::kWriteTokens;
    int64_t written_at = 0;  // op, counted over all calls
  };
  // What a table's block was when the sequence got it.
  struct Lease {
    SequenceId owner;
    uint64_t generation;
  };
  using Leases = absl::flat_hash_map<BlockId, Lease>;  // never iterated

  static constexpr SequenceId kNobody = -1;

  absl::Status Run(const AssignBlocks& op);
  absl::Status Run(const ReleaseBlocks& op);
  absl::Status Run(const WriteTokens& op);
  absl::Status Run(const GatherSequence& op);
  absl::Status Run(const CopyBlock& op);
  absl::Status Run(const MoveBlocks& op);
  absl::Status Run(const SwapBlocks& op);
  absl::Status Run(const UpdateState& op);
  absl::Status Run(const SaveState& op);
  absl::Status Run(const RestoreState& op);
  absl::Status Run(const HashPrefix& op);

  const PoolShape& Pool(PoolIndex pool) const {
    return pools_[static_cast<size_t>(pool)];
  }
  std::vector<Block>& Arena(PoolIndex pool) {
    return arenas_[static_cast<size_t>(Pool(pool).arena)];
  }
  Block& At(PoolIndex pool, BlockId block) { return Arena(pool)[block]; }
  Leases* LeasesOf(PoolIndex pool, SequenceId sequence);

  // Writes one row or state, reads one.
  absl::Status WriteRow(PoolIndex pool, SequenceId sequence, BlockId block,
                        Stamp stamp, PageOpKind kind);
  absl::Status ReadRows(PoolIndex pool, SequenceId sequence, Blocks table,
                        int64_t first, int64_t end,
                        std::span<const Stamp> stamps, PageOpKind kind);
  // Rules (2) and (3) of the blocks.
  absl::Status MayWrite(PoolIndex pool, SequenceId sequence, Blocks blocks,
                        PageOpKind kind);
  absl::Status MayRead(PoolIndex pool, SequenceId sequence, Blocks blocks,
                       PageOpKind kind);
  // Notes who wrote, and stamps the blocks.
  absl::Status Written(PoolIndex pool, SequenceId sequence, Blocks blocks,
                       PageOpKind kind);
  // "gather_sequence in pool "full": block 17 …, last written by …".
  absl::Status Broken(PoolIndex pool, PageOpKind kind, BlockId block,
                      const std::string& what);

  std::vector<PoolShape> pools_;
  std::unique_ptr<PagingDevice> device_;
  TrafficByKind totals_;
  int64_t op_ = 0;  // executed, over all calls
  std::vector<std::vector<Block>> arenas_;
  // By arena. A sequence keeps its leases as long as it holds blocks.
  std::vector<absl::flat_hash_map<SequenceId, Leases>> leases_;
};

}  // namespace kvsim

#endif  // KVSIM_KERNELS_MEMORY_PAGING_BACKEND_H_
