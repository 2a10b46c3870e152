#include "kernels/byte_copy.cuh"
#include "kernels/gather_sequence.h"
#include "kernels/launch.cuh"

namespace kvsim {
namespace {

struct CopyByWarp {
  __device__ void operator()(const ByteRange& range) const { WarpCopy(range); }
};

__global__ void GatherSequenceKernel(GatherSequenceArgs args) {
  const int64_t units = args.pages.num_layers * args.LayerUnits();
  for (int64_t i = GlobalWarp(); i < units; i += GlobalWarps()) {
    args.CopyUnit(i, CopyByWarp());
  }
}

}  // namespace

LaunchStatus LaunchGatherSequence(const GatherSequenceArgs& args,
                                  DeviceStream stream) {
  const LaunchStatus status = CheckGatherSequence(args);
  if (!status.ok() || args.num_sequences == 0) return status;
  const int64_t units = args.pages.num_layers * args.LayerUnits();
  if (units == 0) return status;
  return LaunchKernel(GatherSequenceKernel, GridBlocks(units * kWarp),
                      kThreadsPerBlock, args, stream);
}

}  // namespace kvsim
