#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "kernels/device_memory.h"

namespace kvsim {
namespace {

constexpr int64_t kAlignment = 256;

class HostMemory final : public DeviceMemory {
 public:
  // As /proc/cpuinfo names the processor.
  std::string Description() const override {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
      if (line.rfind("model name", 0) != 0) continue;
      const size_t colon = line.find(": ");
      if (colon == std::string::npos) break;
      return "one core of the host, " + line.substr(colon + 2);
    }
    return "one core of the host";
  }

  int64_t FreeBytes() const override {
    return int64_t{sysconf(_SC_AVPHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  }

  // More than there is would be granted, and the program killed when it is touched.
  absl::StatusOr<std::byte*> Allocate(int64_t bytes, Kind) override {
    const int64_t all =
        int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
    if (bytes > all) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "the host has ", all, " B of memory, not ", bytes, " for a pool"));
    }
    const int64_t padded = (bytes / kAlignment + 1) * kAlignment;
    void* const data = std::aligned_alloc(static_cast<size_t>(kAlignment),
                                          static_cast<size_t>(padded));
    if (data == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the host has no ", bytes, " B for a pool"));
    }
    return static_cast<std::byte*>(data);
  }
  void Free(std::byte* data, Kind) override { std::free(data); }

  absl::Status Upload(std::byte* to, const void* from, int64_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
    return absl::OkStatus();
  }
  absl::Status Download(void* to, const std::byte* from,
                        int64_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
    return absl::OkStatus();
  }
  LaunchStatus Copy(std::byte* to, const std::byte* from,
                    int64_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
    return LaunchStatus::Ok();
  }

  absl::Status Wait() override { return absl::OkStatus(); }
  absl::StatusOr<int64_t> TimeNs(
      const std::function<LaunchStatus()>& queue) override {
    const auto start = std::chrono::steady_clock::now();
    const LaunchStatus status = queue();
    const auto end = std::chrono::steady_clock::now();
    if (!status.ok()) return ToStatus(status);
    return std::chrono::nanoseconds(end - start).count();
  }
};

}  // namespace

std::unique_ptr<DeviceMemory> MakeHostMemory() {
  return std::make_unique<HostMemory>();
}

absl::Status ToStatus(const LaunchStatus& status) {
  switch (status.code) {
    case LaunchStatus::Code::kOk:
      return absl::OkStatus();
    case LaunchStatus::Code::kBadArgument:
      return absl::InternalError(status.message);
    case LaunchStatus::Code::kDevice:
      break;
  }
  return absl::UnavailableError(
      absl::StrCat("the CUDA device failed: ", status.message, " (error ",
                   status.device_error, ")"));
}

}  // namespace kvsim
