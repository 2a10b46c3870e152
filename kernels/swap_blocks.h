// Copies pages between a device's pool and a pool in pinned host memory.
//
// Model:      of each pair's page all block_stride bytes are copied, in all layers,
//             from the pool that the direction says. Pairs are (device, host) to the
//             host and (host, device) from it: `from` is always the source. The
//             source keeps its contents, so a copy that fails on the way has lost
//             nothing. The host twin has both pools in host memory.
//             Small ranges are copied by a kernel that reads or writes host memory
//             through its mapped address, large ones by the device's copy engines:
//             queueing a copy costs a few microseconds, which only a large one
//             hides. Where the limit lies is an estimate, not yet measured.
// Shapes:     pairs [num_pairs], runs of neighbours are merged.
// Units:      bytes.
// Costs:      each byte crosses the bus once. The kernel occupies 64 of a device's
//             thread blocks and leaves it to others otherwise.
// Errors:     BadArgument, before anything is moved, naming the argument or what is
//             wrong with the pairs (block_pairs.h).
//             REQUIRES: pairs and both arrays of layers are readable by the host and
//             by the device (pinned host memory), and stay as they are until the
//             stream has come past them.
#ifndef KVSIM_KERNELS_SWAP_BLOCKS_H_
#define KVSIM_KERNELS_SWAP_BLOCKS_H_

#include <cstddef>
#include <cstdint>

#include "base/page_op.h"
#include "kernels/block_pairs.h"
#include "kernels/byte_copy.h"
#include "kernels/host_device.h"
#include "kernels/launch.h"
#include "kernels/paged_layers.h"

namespace kvsim {

enum class SwapMethod : uint8_t {
  kBySize,  // of the ranges, on average
  kKernel,
  kCopyEngine,
};

struct SwapBlocksArgs {
  // Same layers and block_stride; block numbers of their own.
  PagedLayers device;
  PagedLayers host;
  SwapDirection direction = SwapDirection::kToHost;
  const BlockPair* pairs = nullptr;
  int64_t num_pairs = 0;
  SwapMethod method = SwapMethod::kBySize;  // host twin: means nothing

  KVSIM_HOST_DEVICE const PagedLayers& From() const {
    return direction == SwapDirection::kToHost ? device : host;
  }
  KVSIM_HOST_DEVICE const PagedLayers& To() const {
    return direction == SwapDirection::kToHost ? host : device;
  }

  // `count` neighbouring pairs, from one on.
  KVSIM_HOST_DEVICE ByteRange RangeOf(int32_t layer, int64_t pair,
                                      int64_t count = 1) const {
    return {To().Page(layer, pairs[pair].to),
            From().Page(layer, pairs[pair].from), count * device.block_stride};
  }

  // The work of the kernel, cut for its warps.
  KVSIM_HOST_DEVICE int64_t NumPieces() const {
    return device.num_layers * num_pairs * CopyPieces(device.block_stride);
  }
  KVSIM_HOST_DEVICE ByteRange PieceOf(int64_t piece) const {
    const int64_t page_pieces = CopyPieces(device.block_stride);
    const int64_t page = piece / page_pieces;
    return RangeOf(static_cast<int32_t>(page / num_pairs), page % num_pairs)
        .Piece(piece % page_pieces);
  }
};

// What both check; reads the pairs.
LaunchStatus CheckSwapBlocks(const SwapBlocksArgs& args);

// Ranges of this many bytes on average go through the copy engines.
inline constexpr int64_t kCopyEngineBytes = int64_t{1} << 20;
bool UsesCopyEngine(const SwapBlocksArgs& args);

LaunchStatus SwapBlocksOnHost(const SwapBlocksArgs& args);
LaunchStatus LaunchSwapBlocks(const SwapBlocksArgs& args, DeviceStream stream);

// Calls copy(range) for every run of every layer, layer by layer, until one answers
// false; whether none did.
template <typename Copy>
bool ForEachSwapRange(const SwapBlocksArgs& args, Copy copy) {
  for (int32_t layer = 0; layer < args.device.num_layers; ++layer) {
    for (int64_t i = 0; i < args.num_pairs;) {
      const int64_t count =
          RunLength({args.pairs + i, static_cast<size_t>(args.num_pairs - i)});
      if (!copy(args.RangeOf(layer, i, count))) return false;
      i += count;
    }
  }
  return true;
}

}  // namespace kvsim

#endif  // KVSIM_KERNELS_SWAP_BLOCKS_H_
