#include "kernels/launch.cuh"
#include "kernels/stamp_blocks.h"

namespace kvsim {
namespace {

constexpr int kWarp = 32;
constexpr int kWarps = kThreadsPerBlock / kWarp;

// A block's checksum by all threads together; known to thread 0 only. Warps take
// the parts in turn. May be called again at once.
__device__ uint64_t Checksum(const BlockContents& contents, int64_t block) {
  __shared__ uint64_t sums[kWarps];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  uint64_t sum = 0;
  for (int64_t part = warp; part < contents.NumParts(); part += kWarps) {
    sum += contents.SumOfPart(block, part, lane, kWarp);
  }
  for (int step = kWarp / 2; step > 0; step /= 2) {
    sum += __shfl_down_sync(0xFFFFFFFF, sum, step);
  }
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  uint64_t total = contents.Seed();
  if (threadIdx.x == 0) {
    for (int i = 0; i < kWarps; ++i) total += sums[i];
  }
  __syncthreads();  // sums may be overwritten
  return total;
}

// One thread block per listed block, in both. What decides whether a block is
// passed over is the same for all threads of it.
__global__ void __launch_bounds__(kThreadsPerBlock)
    StampBlocksKernel(StampBlocksArgs args) {
  for (int64_t i = blockIdx.x; i < args.num_blocks; i += gridDim.x) {
    if (args.blocks[i] == kNullBlock) continue;
    const uint64_t checksum = Checksum(args.Contents(), args.blocks[i]);
    if (threadIdx.x == 0) args.Stamp(i, checksum);
  }
}

__global__ void __launch_bounds__(kThreadsPerBlock)
    VerifyBlocksKernel(VerifyBlocksArgs args) {
  for (int64_t i = blockIdx.x; i < args.num_blocks; i += gridDim.x) {
    BlockVerdict verdict = BlockVerdict::kOk;
    if (args.blocks[i] != kNullBlock) {
      verdict = args.VerdictOfTag(i);
      if (verdict == BlockVerdict::kOk) {
        const uint64_t checksum = Checksum(args.Contents(), args.blocks[i]);
        if (threadIdx.x == 0) verdict = args.VerdictOfContents(i, checksum);
      }
    }
    if (threadIdx.x == 0) args.verdicts[i] = verdict;
  }
}

}  // namespace

LaunchStatus LaunchStampBlocks(const StampBlocksArgs& args,
                               DeviceStream stream) {
  const LaunchStatus status = CheckStampBlocks(args);
  if (!status.ok() || args.num_blocks == 0) return status;
  return LaunchKernel(StampBlocksKernel, GridBlocks(args.num_blocks, 1),
                      kThreadsPerBlock, args, stream);
}

LaunchStatus LaunchVerifyBlocks(const VerifyBlocksArgs& args,
                                DeviceStream stream) {
  const LaunchStatus status = CheckVerifyBlocks(args);
  if (!status.ok() || args.num_blocks == 0) return status;
  return LaunchKernel(VerifyBlocksKernel, GridBlocks(args.num_blocks, 1),
                      kThreadsPerBlock, args, stream);
}

}  // namespace kvsim
