#include "kernels/byte_copy.cuh"
#include "kernels/copy_blocks.h"
#include "kernels/launch.cuh"

namespace kvsim {
namespace {

__global__ void CopyBlocksKernel(CopyBlocksArgs args) {
  const int64_t pieces = args.NumPieces();
  for (int64_t i = GlobalWarp(); i < pieces; i += GlobalWarps()) {
    WarpCopy(args.PieceOf(i));
  }
}

}  // namespace

LaunchStatus LaunchCopyBlocks(const CopyBlocksArgs& args, DeviceStream stream) {
  const LaunchStatus status = CheckCopyBlocks(args);
  const int64_t pieces = status.ok() ? args.NumPieces() : 0;
  if (pieces == 0) return status;
  return LaunchKernel(CopyBlocksKernel, GridBlocks(pieces * kWarp),
                      kThreadsPerBlock, args, stream);
}

}  // namespace kvsim
