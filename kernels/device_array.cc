#include "kernels/device_array.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace kvsim {
namespace {

void Require(cudaError_t error, const char* what, int64_t bytes) {
  KVSIM_CHECK(error == cudaSuccess)
      << what << " of " << bytes << " B: " << cudaGetErrorString(error);
}

}  // namespace

std::string WhyNoDevice() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return cudaGetErrorString(error);
  return count > 0 ? "" : "no CUDA device";
}

bool HasDevice() { return WhyNoDevice().empty(); }

std::string WaitForDevice() {
  const cudaError_t error = cudaDeviceSynchronize();
  return error == cudaSuccess ? "" : cudaGetErrorString(error);
}

// The runtime gives no memory for nothing; a byte keeps pointers valid.
DeviceBytes::DeviceBytes(int64_t size) : size_(size) {
  void* data = nullptr;
  Require(cudaMalloc(&data, static_cast<size_t>(std::max<int64_t>(size, 1))),
          "cudaMalloc", size);
  data_ = static_cast<std::byte*>(data);
}

DeviceBytes::DeviceBytes(DeviceBytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

DeviceBytes::~DeviceBytes() { cudaFree(data_); }

void DeviceBytes::Upload(const void* from, int64_t bytes, int64_t offset) {
  KVSIM_CHECK(offset >= 0 && bytes >= 0 && offset + bytes <= size_);
  Require(cudaMemcpy(data_ + offset, from, static_cast<size_t>(bytes),
                     cudaMemcpyHostToDevice),
          "copy to the device", bytes);
}

void DeviceBytes::Download(void* to, int64_t bytes, int64_t offset) const {
  KVSIM_CHECK(offset >= 0 && bytes >= 0 && offset + bytes <= size_);
  Require(cudaMemcpy(to, data_ + offset, static_cast<size_t>(bytes),
                     cudaMemcpyDeviceToHost),
          "copy from the device", bytes);
}

PinnedBytes::PinnedBytes(int64_t size) : size_(size) {
  void* data = nullptr;
  Require(
      cudaMallocHost(&data, static_cast<size_t>(std::max<int64_t>(size, 1))),
      "cudaMallocHost", size);
  data_ = static_cast<std::byte*>(data);
}

PinnedBytes::PinnedBytes(PinnedBytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

PinnedBytes::~PinnedBytes() { cudaFreeHost(data_); }

}  // namespace kvsim
