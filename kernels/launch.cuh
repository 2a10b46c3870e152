// What every launcher does: sizes of grids, the launch, the runtime's answer.
#ifndef KVSIM_KERNELS_LAUNCH_CUH_
#define KVSIM_KERNELS_LAUNCH_CUH_

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/launch.h"

namespace kvsim {

inline constexpr int kThreadsPerBlock = 256;

// Kernels run over their items with a stride of the whole grid, so a grid never
// needs more blocks than fill a device some times over: 16 for each of the 148
// multiprocessors of the largest one built for.
inline constexpr int64_t kMaxGridBlocks = 16 * 148;

// Blocks of `threads` for `items`, at least one.
inline unsigned GridBlocks(int64_t items, int threads = kThreadsPerBlock) {
  const int64_t wanted = (items + threads - 1) / threads;
  return static_cast<unsigned>(
      wanted < 1 ? 1 : (wanted < kMaxGridBlocks ? wanted : kMaxGridBlocks));
}

// This thread's first item and the step to its next one.
__device__ inline int64_t GlobalThread() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline int64_t GlobalThreads() {
  return static_cast<int64_t>(gridDim.x) * blockDim.x;
}

inline cudaStream_t StreamOf(DeviceStream stream) {
  return static_cast<cudaStream_t>(stream.handle);
}

// What the runtime answered to one call. It is told here; whoever asks the runtime
// for its last error shall not be told again.
inline LaunchStatus StatusOf(cudaError_t error) {
  if (error == cudaSuccess) return LaunchStatus::Ok();
  cudaGetLastError();
  return {LaunchStatus::Code::kDevice, error, cudaGetErrorString(error)};
}

// Queues a kernel. The answer is that of this launch: the last error, which is what
// one asks for after <<<>>>, may be left over from a call that failed long before.
template <typename Args>
LaunchStatus LaunchKernel(void (*kernel)(Args), dim3 grid, int threads,
                          const Args& args, DeviceStream stream) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.stream = StreamOf(stream);
  return StatusOf(cudaLaunchKernelEx(&config, kernel, args));
}

}  // namespace kvsim

#endif  // KVSIM_KERNELS_LAUNCH_CUH_
