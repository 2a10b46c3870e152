#include "kernels/device_array.h"

#include <memory>
#include <utility>

#include "base/check.h"
#include "kernels/device_memory.h"

namespace kvsim {
namespace {

constexpr auto kDevice = DeviceMemory::Kind::kDevice;
constexpr auto kSwap = DeviceMemory::Kind::kSwap;

// The first device, which lives as long as the program. REQUIRES: HasDevice().
DeviceMemory& Device() {
  static auto& memory =
      *new absl::StatusOr<std::unique_ptr<DeviceMemory>>(MakeCudaMemory());
  KVSIM_CHECK(memory.ok()) << memory.status().message();
  return **memory;
}

void Require(const absl::Status& status) {
  KVSIM_CHECK(status.ok()) << status.message();
}

std::byte* Allocated(int64_t size, DeviceMemory::Kind kind) {
  const absl::StatusOr<std::byte*> data = Device().Allocate(size, kind);
  Require(data.status());
  return *data;
}

}  // namespace

std::string WhyNoDevice() {
  return std::string(MakeCudaMemory().status().message());
}

bool HasDevice() { return WhyNoDevice().empty(); }

std::string WaitForDevice() { return std::string(Device().Wait().message()); }

DeviceBytes::DeviceBytes(int64_t size)
    : data_(Allocated(size, kDevice)), size_(size) {}

DeviceBytes::DeviceBytes(DeviceBytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

DeviceBytes::~DeviceBytes() {
  if (data_ != nullptr) Device().Free(data_, kDevice);
}

void DeviceBytes::Upload(const void* from, int64_t bytes, int64_t offset) {
  KVSIM_CHECK(offset >= 0 && bytes >= 0 && offset + bytes <= size_);
  Require(Device().Upload(data_ + offset, from, bytes));
}

void DeviceBytes::Download(void* to, int64_t bytes, int64_t offset) const {
  KVSIM_CHECK(offset >= 0 && bytes >= 0 && offset + bytes <= size_);
  Require(Device().Download(to, data_ + offset, bytes));
}

PinnedBytes::PinnedBytes(int64_t size)
    : data_(Allocated(size, kSwap)), size_(size) {}

PinnedBytes::PinnedBytes(PinnedBytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

PinnedBytes::~PinnedBytes() {
  if (data_ != nullptr) Device().Free(data_, kSwap);
}

}  // namespace kvsim
