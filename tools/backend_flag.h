// `--backend host|cuda`: the kernels and the memory of that name.

#ifndef KVSIM_TOOLS_BACKEND_FLAG_H_
#define KVSIM_TOOLS_BACKEND_FLAG_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "kernels/device_memory.h"
#include "kernels/kernel_set.h"

namespace kvsim {

struct BackendMachine {
  const KernelSet* kernels = nullptr;
  std::unique_ptr<DeviceMemory> memory;
};

// InvalidArgument for another name; Unavailable says why there is no device.
absl::StatusOr<BackendMachine> OpenBackend(const std::string& name);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_BACKEND_FLAG_H_
