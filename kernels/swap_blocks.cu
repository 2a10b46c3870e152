#include <algorithm>

#include "kernels/byte_copy.cuh"
#include "kernels/launch.cuh"
#include "kernels/swap_blocks.h"

namespace kvsim {
namespace {

// 512 warps with 4 KiB each in flight keep any bus busy.
constexpr unsigned kGridBlocks = 64;

__global__ void SwapBlocksKernel(SwapBlocksArgs args) {
  const int64_t pieces = args.NumPieces();
  for (int64_t i = GlobalWarp(); i < pieces; i += GlobalWarps()) {
    WarpCopy(args.PieceOf(i));
  }
}

LaunchStatus QueueCopies(const SwapBlocksArgs& args, cudaStream_t stream) {
  const cudaMemcpyKind kind = args.direction == SwapDirection::kToHost
                                  ? cudaMemcpyDeviceToHost
                                  : cudaMemcpyHostToDevice;
  cudaError_t error = cudaSuccess;
  ForEachSwapRange(args, [&](const ByteRange& range) {
    error = cudaMemcpyAsync(range.to, range.from,
                            static_cast<size_t>(range.bytes), kind, stream);
    return error == cudaSuccess;
  });
  return StatusOf(error);
}

}  // namespace

LaunchStatus LaunchSwapBlocks(const SwapBlocksArgs& args, DeviceStream stream) {
  const LaunchStatus status = CheckSwapBlocks(args);
  const int64_t pieces = status.ok() ? args.NumPieces() : 0;
  if (pieces == 0) return status;
  if (UsesCopyEngine(args)) return QueueCopies(args, StreamOf(stream));
  const unsigned blocks = std::min(GridBlocks(pieces * kWarp), kGridBlocks);
  return LaunchKernel(SwapBlocksKernel, blocks, kThreadsPerBlock, args, stream);
}

}  // namespace kvsim
