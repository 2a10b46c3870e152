// An array in the memory of a CUDA device, for tests, benchmarks and backends.
//
// Costs:   construction and destruction synchronise with the device; copies wait.
// Errors:  a check failure; ask HasDevice() before the first one.
#ifndef KVSIM_KERNELS_DEVICE_ARRAY_H_
#define KVSIM_KERNELS_DEVICE_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kvsim {

// Whether a CUDA device answers.
bool HasDevice();
// Why not, in the runtime's words; "" with a device.
std::string WhyNoDevice();
// Waits for everything queued; "" or what went wrong since the last call.
std::string WaitForDevice();

class DeviceBytes {
 public:
  explicit DeviceBytes(int64_t size);
  DeviceBytes(DeviceBytes&& other) noexcept;
  DeviceBytes& operator=(DeviceBytes&&) = delete;
  ~DeviceBytes();

  std::byte* data() const { return data_; }
  int64_t size() const { return size_; }
  void Upload(const void* from, int64_t bytes, int64_t offset = 0);
  void Download(void* to, int64_t bytes, int64_t offset = 0) const;

 private:
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
};

// Host memory that devices copy to and from directly.
class PinnedBytes {
 public:
  explicit PinnedBytes(int64_t size);
  PinnedBytes(PinnedBytes&& other) noexcept;
  PinnedBytes& operator=(PinnedBytes&&) = delete;
  ~PinnedBytes();

  std::byte* data() const { return data_; }
  int64_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
};

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(int64_t count)
      : bytes_(count * static_cast<int64_t>(sizeof(T))) {}
  explicit DeviceArray(std::span<const T> values)
      : DeviceArray(static_cast<int64_t>(values.size())) {
    bytes_.Upload(values.data(), bytes_.size());
  }
  explicit DeviceArray(const std::vector<T>& values)
      : DeviceArray(std::span<const T>(values)) {}

  T* data() const { return reinterpret_cast<T*>(bytes_.data()); }
  int64_t size() const {
    return bytes_.size() / static_cast<int64_t>(sizeof(T));
  }
  std::vector<T> Download() const {
    std::vector<T> values(static_cast<size_t>(size()));
    bytes_.Download(values.data(), bytes_.size());
    return values;
  }

 private:
  DeviceBytes bytes_;
};

}  // namespace kvsim

#endif  // KVSIM_KERNELS_DEVICE_ARRAY_H_
