// A piece of a DeviceMemory: owned, and made larger when more is asked for.
//
// Costs:      Reserve allocates only beyond what it has, at least half as much again, so
//             that buffers which grow with every call rarely do; contents are lost then.
// Ownership:  keeps a pointer to the memory, which outlives it.
#ifndef KVSIM_KERNELS_DEVICE_BUFFER_H_
#define KVSIM_KERNELS_DEVICE_BUFFER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "kernels/device_memory.h"

namespace kvsim {

class DeviceBuffer {
 public:
  explicit DeviceBuffer(DeviceMemory* memory,
                        DeviceMemory::Kind kind = DeviceMemory::Kind::kDevice)
      : memory_(memory), kind_(kind) {}
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : memory_(other.memory_),
        kind_(other.kind_),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;
  ~DeviceBuffer() {
    if (data_ != nullptr) memory_->Free(data_, kind_);
  }

  std::byte* data() const { return data_; }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

  absl::Status Reserve(int64_t bytes) {
    if (data_ != nullptr && bytes <= size_) return absl::OkStatus();
    if (data_ != nullptr) {
      memory_->Free(std::exchange(data_, nullptr), kind_);
      bytes = std::max(bytes, size_ + size_ / 2);
    }
    const absl::StatusOr<std::byte*> data = memory_->Allocate(bytes, kind_);
    if (!data.ok()) return data.status();
    data_ = *data;
    size_ = bytes;
    return absl::OkStatus();
  }

  template <typename T>
  absl::Status Upload(std::span<const T> values) {
    const auto bytes = static_cast<int64_t>(values.size_bytes());
    const absl::Status status = Reserve(bytes);
    if (!status.ok() || bytes == 0) return status;
    return memory_->Upload(data_, values.data(), bytes);
  }

 private:
  DeviceMemory* memory_;
  DeviceMemory::Kind kind_;
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
};

}  // namespace kvsim

#endif  // KVSIM_KERNELS_DEVICE_BUFFER_H_
