#include "kernels/device_memory.h"

namespace kvsim {

absl::StatusOr<std::unique_ptr<DeviceMemory>> MakeCudaMemory() {
  return absl::UnavailableError(
      "this kvsim was built without CUDA: nvcc was not found then");
}

}  // namespace kvsim
