#include "kernels/launch.cuh"
#include "kernels/slot_mapping.h"

namespace kvsim {
namespace {

__global__ void SlotMappingKernel(SlotMappingArgs args) {
  for (int64_t i = GlobalThread(); i < args.num_padded; i += GlobalThreads()) {
    args.slots[i] = args.SlotOf(i);
  }
}

}  // namespace

LaunchStatus LaunchSlotMapping(const SlotMappingArgs& args,
                               DeviceStream stream) {
  const LaunchStatus status = CheckSlotMapping(args);
  if (!status.ok() || args.num_padded == 0) return status;
  return LaunchKernel(SlotMappingKernel, GridBlocks(args.num_padded),
                      kThreadsPerBlock, args, stream);
}

}  // namespace kvsim
