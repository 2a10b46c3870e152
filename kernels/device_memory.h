// The memory that kernels work on: the host's own or a CUDA device's.
//
// Model:      plain allocations, copies to and from the program, and the large copy
//             that measured bandwidths are compared with. "Swap" memory is the host's
//             side of swaps: pinned, so that the device reads and writes it itself.
// Units:      bytes; nanoseconds of the device's clock.
// Costs:      allocation and copies wait for the device.
// Ownership:  allocations live until Free(); DeviceBuffer (device_buffer.h) owns one.
// Threads:    one per object.
// Errors:     Unavailable in the runtime's words; ResourceExhausted with the size.
#ifndef KVSIM_KERNELS_DEVICE_MEMORY_H_
#define KVSIM_KERNELS_DEVICE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/launch.h"

namespace kvsim {

class DeviceMemory {
 public:
  enum class Kind : uint8_t { kDevice, kSwap };

  virtual ~DeviceMemory() = default;

  // "host", or the device's product name and its driver.
  virtual std::string Description() const = 0;
  virtual int64_t FreeBytes() const = 0;

  // Aligned to 256 bytes; contents are undefined. REQUIRES: bytes >= 0.
  virtual absl::StatusOr<std::byte*> Allocate(int64_t bytes, Kind kind) = 0;
  virtual void Free(std::byte* data, Kind kind) = 0;

  virtual absl::Status Upload(std::byte* to, const void* from,
                              int64_t bytes) = 0;
  virtual absl::Status Download(void* to, const std::byte* from,
                                int64_t bytes) = 0;
  // One large copy inside the memory, or between it and swap memory, by the means of
  // the runtime; queued like a kernel.
  virtual LaunchStatus Copy(std::byte* to, const std::byte* from,
                            int64_t bytes) = 0;

  // Waits for everything queued, and says what went wrong since the last wait.
  virtual absl::Status Wait() = 0;
  // How long what `queue` queues takes on the device, from the first to the last.
  virtual absl::StatusOr<int64_t> TimeNs(
      const std::function<LaunchStatus()>& queue) = 0;
};

std::unique_ptr<DeviceMemory> MakeHostMemory();

// Of the first CUDA device. Unavailable, saying why, where none answers or this
// program was built without CUDA.
absl::StatusOr<std::unique_ptr<DeviceMemory>> MakeCudaMemory();

// A launcher's refusal as a status: Unavailable for the device's, Internal for a bad
// argument, which is the caller's bug.
absl::Status ToStatus(const LaunchStatus& status);

}  // namespace kvsim

#endif  // KVSIM_KERNELS_DEVICE_MEMORY_H_
