#include "tools/backend_flag.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace kvsim {

absl::StatusOr<BackendMachine> OpenBackend(const std::string& name) {
  if (name == "host") return BackendMachine{&HostKernels(), MakeHostMemory()};
  if (name != "cuda") {
    return absl::InvalidArgumentError(
        absl::StrCat("--backend '", name, "': accepted: host, cuda"));
  }
  absl::StatusOr<std::unique_ptr<DeviceMemory>> memory = MakeCudaMemory();
  if (!memory.ok()) {
    return absl::Status(
        memory.status().code(),
        absl::StrCat("--backend 'cuda': ", memory.status().message(),
                     "; --backend host performs the same operations"));
  }
  return BackendMachine{CudaKernels(), *std::move(memory)};
}

}  // namespace kvsim
