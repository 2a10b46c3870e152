#include <cuda_runtime_api.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kernels/device_memory.h"

namespace kvsim {
namespace {

absl::Status Said(cudaError_t error) {
  if (error == cudaSuccess) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("the CUDA device failed: ", cudaGetErrorString(error)));
}

class CudaMemory final : public DeviceMemory {
 public:
  ~CudaMemory() override {
    if (start_ != nullptr) cudaEventDestroy(start_);
    if (end_ != nullptr) cudaEventDestroy(end_);
  }

  std::string Description() const override {
    cudaDeviceProp device;
    int driver = 0;
    if (cudaGetDeviceProperties(&device, 0) != cudaSuccess ||
        cudaDriverGetVersion(&driver) != cudaSuccess) {
      return "a CUDA device";
    }
    return absl::StrCat(device.name, ", driver for CUDA ", driver / 1000, ".",
                        driver % 1000 / 10);
  }

  int64_t FreeBytes() const override {
    size_t free = 0, total = 0;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess) return 0;
    return static_cast<int64_t>(free);
  }

  // The runtime gives nothing for nothing; a byte keeps pointers valid.
  absl::StatusOr<std::byte*> Allocate(int64_t bytes, Kind kind) override {
    void* data = nullptr;
    const auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
    const cudaError_t error = kind == Kind::kDevice
                                  ? cudaMalloc(&data, size)
                                  : cudaMallocHost(&data, size);
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // it is told; later calls shall not tell it again
      return absl::ResourceExhaustedError(absl::StrCat(
          kind == Kind::kDevice ? "the CUDA device" : "the host, pinned,",
          " has no ", bytes, " B for a pool"));
    }
    if (error != cudaSuccess) return Said(error);
    return static_cast<std::byte*>(data);
  }
  void Free(std::byte* data, Kind kind) override {
    if (kind == Kind::kDevice) {
      cudaFree(data);
    } else {
      cudaFreeHost(data);
    }
  }

  // Swap memory is the host's, which reads it next. Were it called the device's,
  // the runtime might return before the bytes are there.
  absl::Status Upload(std::byte* to, const void* from, int64_t bytes) override {
    return Said(
        cudaMemcpy(to, from, static_cast<size_t>(bytes), cudaMemcpyDefault));
  }
  absl::Status Download(void* to, const std::byte* from,
                        int64_t bytes) override {
    return Said(cudaMemcpy(to, from, static_cast<size_t>(bytes),
                           cudaMemcpyDeviceToHost));
  }
  LaunchStatus Copy(std::byte* to, const std::byte* from,
                    int64_t bytes) override {
    const cudaError_t error = cudaMemcpyAsync(
        to, from, static_cast<size_t>(bytes), cudaMemcpyDefault, nullptr);
    if (error == cudaSuccess) return LaunchStatus::Ok();
    return {LaunchStatus::Code::kDevice, error, cudaGetErrorString(error)};
  }

  absl::Status Wait() override { return Said(cudaDeviceSynchronize()); }

  absl::StatusOr<int64_t> TimeNs(
      const std::function<LaunchStatus()>& queue) override {
    absl::Status status;
    for (cudaEvent_t* event : {&start_, &end_}) {
      if (*event == nullptr) status.Update(Said(cudaEventCreate(event)));
    }
    if (!status.ok()) return status;
    status.Update(Said(cudaEventRecord(start_, nullptr)));
    status.Update(ToStatus(queue()));
    status.Update(Said(cudaEventRecord(end_, nullptr)));
    status.Update(Said(cudaEventSynchronize(end_)));
    float milliseconds = 0;
    status.Update(Said(cudaEventElapsedTime(&milliseconds, start_, end_)));
    if (!status.ok()) return status;
    return static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6);
  }

 private:
  cudaEvent_t start_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceMemory>> MakeCudaMemory() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    return absl::UnavailableError(absl::StrCat(
        "no CUDA device answers: ",
        error == cudaSuccess ? "there is none" : cudaGetErrorString(error)));
  }
  return std::unique_ptr<DeviceMemory>(std::make_unique<CudaMemory>());
}

}  // namespace kvsim
