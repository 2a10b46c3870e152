// Memory for pools, and what a paging backend asks to be done with it.
//
// Model:      the memory of every arena (kernels/pool_shape.h), a tag for each of its
//             blocks, and the operations of kernels/ on them, by the host's twins or by
//             CUDA. Rows are named by stamps
//             (kernels/row_stamps.h); their bytes are made and compared where the
//             memory is.
// Units:      as base/page_op.h: blocks, slots and rows of one rank.
// Costs:      every call waits until its effect is there.
// Ownership:  keeps no pointer to its arguments.
// Threads:    one per device.
// Errors:     Unavailable when the device fails, ResourceExhausted when it has no
//             memory; arguments are checked by the caller (CheckPageOp).
#ifndef KVSIM_KERNELS_PAGING_DEVICE_H_
#define KVSIM_KERNELS_PAGING_DEVICE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/block_id.h"
#include "base/page_op.h"
#include "kernels/device_buffer.h"
#include "kernels/device_memory.h"
#include "kernels/kernel_set.h"
#include "kernels/pool_shape.h"
#include "kernels/stamp_blocks.h"

namespace kvsim {

// A row that is not what its reader expected.
struct RowFault {
  int64_t row = 0;  // counted from the first one read
  // What its first eight bytes say it is; of a shorter row as many as there are.
  Stamp found = 0;
};

class PagingDevice {
 public:
  using Blocks = std::span<const BlockId>;
  using BlockPairs = std::span<const std::pair<BlockId, BlockId>>;

  // The kernels and the memory are of one kind. REQUIRES: ValidatePoolShapes accepts
  // the pools. ResourceExhausted when there is not so much memory.
  static absl::StatusOr<std::unique_ptr<PagingDevice>> Create(
      std::vector<PoolShape> pools, const KernelSet& kernels,
      std::unique_ptr<DeviceMemory> memory);

  // "host", "cuda".
  const char* name() const { return kernels_.name; }

  // Row i of `stamps` to slots[i], or nowhere for kNoSlot.
  absl::Status WriteRows(PoolIndex pool, std::span<const int64_t> slots,
                         std::span<const Stamp> stamps);
  // Reads rows [first, end) of a sequence through its table and compares them;
  // `stamps` may be empty: then they are read only. The first fault, if any.
  absl::StatusOr<std::optional<RowFault>> ReadRows(
      PoolIndex pool, Blocks block_table, int64_t first, int64_t end,
      std::span<const Stamp> stamps);
  // Leading bytes of blocks, source and target. REQUIRES: no target is a source or
  // stands twice.
  absl::Status CopyBlocks(PoolIndex pool, BlockPairs pairs, int64_t bytes);
  // Whole blocks, source and target, all read before any is written. REQUIRES:
  // sources and targets are distinct among themselves.
  absl::Status MoveBlocks(PoolIndex pool, BlockPairs moves);
  // Whole blocks, device and host. REQUIRES: targets are distinct.
  absl::Status SwapBlocks(PoolIndex pool, BlockPairs blocks,
                          SwapDirection direction);
  absl::Status StampBlocks(PoolIndex pool, Blocks blocks,
                           std::span<const uint64_t> owners,
                           std::span<const uint64_t> generations);
  // One verdict per block.
  absl::StatusOr<std::vector<BlockVerdict>> VerifyBlocks(
      PoolIndex pool, Blocks blocks, std::span<const uint64_t> owners,
      std::span<const uint64_t> generations);
  // The chain keys of the full blocks, 64 bits each.
  absl::StatusOr<std::vector<uint64_t>> HashPrefix(
      int32_t block_tokens, uint64_t salt, std::span<const int32_t> token_ids);

 private:
  // The memory of an arena: one layer of pages, on the device and in swap memory.
  struct Arena {
    explicit Arena(DeviceMemory* memory)
        : pages(memory),
          host_pages(memory, DeviceMemory::Kind::kSwap),
          tags(memory),
          bases(memory),
          swap_bases(memory, DeviceMemory::Kind::kSwap) {}
    DeviceBuffer pages, host_pages, tags;
    // Addresses of pages and host_pages, for kernels and for who reads them too.
    DeviceBuffer bases, swap_bases;
    int32_t num_blocks = 0, num_host_blocks = 0;
    int64_t block_bytes = 0;
  };
  // Buffers for the arrays of one call.
  enum Use {
    kRows,
    kIndices,
    kStamps,
    kOwners,
    kGenerations,
    kResults,
    kBases
  };
  static constexpr int kNumUses = 7;

  PagingDevice(std::vector<PoolShape> pools, const KernelSet& kernels,
               std::unique_ptr<DeviceMemory> memory);

  absl::Status AllocateArenas();
  const PoolShape& Pool(PoolIndex pool) const {
    return pools_[static_cast<size_t>(pool)];
  }
  Arena& ArenaOf(PoolIndex pool) {
    return arenas_[static_cast<size_t>(Pool(pool).arena)];
  }
  PagedLayers Pages(PoolIndex pool);
  PagedLayers HostPages(PoolIndex pool);
  DeviceBuffer& Scratch(Use use) { return scratch_[static_cast<size_t>(use)]; }
  // The launcher's answer, then the device's.
  absl::Status Done(const LaunchStatus& status);

  std::vector<PoolShape> pools_;
  const KernelSet& kernels_;
  std::unique_ptr<DeviceMemory> memory_;  // before what is allocated in it
  std::vector<Arena> arenas_;
  std::vector<DeviceBuffer> scratch_;
  DeviceBuffer swap_pairs_;
};

}  // namespace kvsim

#endif  // KVSIM_KERNELS_PAGING_DEVICE_H_
