#include "kernels/launch.cuh"
#include "kernels/row_stamps.h"

namespace kvsim {
namespace {

__global__ void FillRowsKernel(FillRowsArgs args) {
  const int64_t words = args.WordsPerRow();
  for (int64_t i = GlobalThread(); i < args.num_rows * words;
       i += GlobalThreads()) {
    args.FillWord(i / words, i % words);
  }
}

__global__ void CheckRowsKernel(CheckRowsArgs args) {
  const int64_t words = args.WordsPerRow();
  for (int64_t i = GlobalThread(); i < args.num_rows * words;
       i += GlobalThreads()) {
    const int64_t row = i / words;
    if (!args.WordIsRight(row, i % words)) {
      atomicMin(args.fault, static_cast<unsigned long long>(row));
    }
  }
}

}  // namespace

LaunchStatus LaunchFillRows(const FillRowsArgs& args, DeviceStream stream) {
  const LaunchStatus status = CheckFillRows(args);
  if (!status.ok() || args.num_rows == 0) return status;
  return LaunchKernel(FillRowsKernel,
                      GridBlocks(args.num_rows * args.WordsPerRow()),
                      kThreadsPerBlock, args, stream);
}

LaunchStatus LaunchCheckRows(const CheckRowsArgs& args, DeviceStream stream) {
  const LaunchStatus status = CheckCheckRows(args);
  if (!status.ok() || args.num_rows == 0) return status;
  return LaunchKernel(CheckRowsKernel,
                      GridBlocks(args.num_rows * args.WordsPerRow()),
                      kThreadsPerBlock, args, stream);
}

}  // namespace kvsim
