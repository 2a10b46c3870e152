#include "tools/replay_paging.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "engines/vllm/cache_group.h"
#include "kernels/device_memory.h"
#include "kernels/memory_paging_backend.h"
#include "kernels/null_paging_backend.h"
#include "kernels/paging_device.h"
#include "sim/paging_report.h"
#include "tools/backend_flag.h"
#include "tools/command.h"
#include "tools/flag_reader.h"
#include "tools/paged_groups.h"

namespace kvsim {
namespace {

// Bytes are made and compared one core at a time: so much keeps a replay short.
constexpr Bytes kHostPool(64 << 20);
// Of a GPU's free memory.
constexpr double kShareOfGpu = 0.9;

// One arena: the groups' pools are views of the same blocks.
absl::StatusOr<std::vector<PoolShape>> PoolsOf(
    const ReplaySetup& setup, const std::vector<PagedGroup>& groups) {
  const vllm::Settings& settings = setup.settings;
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (settings.num_gpu_blocks > kMost || settings.host_blocks > kMost) {
    return absl::InvalidArgumentError(
        absl::StrCat("--backend: the pool has ", settings.num_gpu_blocks,
                     " blocks; accepted: up to 2^31 - 1"));
  }
  std::vector<PoolShape> pools;
  for (size_t g = 0; g < groups.size(); ++g) {
    const PagedGroup& group = groups[g];
    PoolShape& pool = pools.emplace_back();
    pool.name = absl::StrCat(
        vllm::GroupKindName(settings.groups[g].kind),
        groups.size() == 1 ? "" : absl::StrCat(" (group ", g, ")"));
    pool.contents =
        group.holds_rows() ? PoolContents::kRows : PoolContents::kStates;
    pool.num_blocks = static_cast<int32_t>(settings.num_gpu_blocks);
    pool.num_host_blocks = static_cast<int32_t>(settings.host_blocks);
    pool.block_tokens =
        group.holds_rows() ? static_cast<int32_t>(group.block_tokens) : 1;
    pool.row_bytes = group.holds_rows() ? group.row_bytes : group.state_bytes;
    pool.block_bytes = group.block_bytes;
  }
  const absl::Status valid = ValidatePoolShapes(pools);
  if (!valid.ok()) return valid;
  return pools;
}

// What the backend may take: --backend-pool, or a part of what the machine has.
absl::StatusOr<Bytes> MemoryLimit(const ReplayFlags& flags,
                                  const DeviceMemory& memory) {
  Bytes limit =
      flags.backend == "host"
          ? std::min(kHostPool, Bytes(memory.FreeBytes() / 2))
          : Bytes(static_cast<int64_t>(
                kShareOfGpu * static_cast<double>(memory.FreeBytes())));
  FlagReader reader;
  reader.Read("--backend-pool", flags.backend_pool, ParseBytes, &limit);
  if (limit.value() < 1) {
    reader.Refuse("--backend-pool", flags.backend_pool,
                  "accepted: a size such as 4GiB");
  }
  if (!reader.status().ok()) return reader.status();
  return limit;
}

absl::StatusOr<std::unique_ptr<PagingBackend>> MakeBackend(
    const ReplayFlags& flags, std::vector<PoolShape> pools) {
  if (flags.backend == "null") {
    return std::make_unique<NullPagingBackend>(std::move(pools));
  }
  if (flags.backend != "host" && flags.backend != "cuda") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--backend '", flags.backend, "': accepted: null (count), host, cuda"));
  }
  absl::StatusOr<BackendMachine> machine = OpenBackend(flags.backend);
  if (!machine.ok()) return machine.status();
  const absl::StatusOr<Bytes> limit = MemoryLimit(flags, *machine->memory);
  if (!limit.ok()) return limit.status();
  const absl::Status scaled = ScalePools(*limit, &pools);
  if (!scaled.ok()) {
    return absl::Status(scaled.code(),
                        absl::StrCat("--backend-pool '", flags.backend_pool,
                                     "': ", scaled.message()));
  }
  absl::StatusOr<std::unique_ptr<PagingDevice>> device = PagingDevice::Create(
      pools, *machine->kernels, std::move(machine->memory));
  if (!device.ok()) return device.status();
  return std::make_unique<MemoryPagingBackend>(std::move(pools),
                                               *std::move(device));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ReplayPaging>> ReplayPaging::Make(
    const ReplayFlags& flags, const ReplaySetup& setup) {
  if (flags.backend.empty()) return nullptr;
  const vllm::Settings& settings = setup.settings;
  if (settings.async_scheduling && settings.num_speculative_tokens > 0) {
    return UsageError(
        "--backend cannot follow --async-scheduling with "
        "--num-speculative-tokens: where a batch writes is not known before "
        "the drafts of the one before are");
  }
  const std::vector<PagedGroup> groups =
      PagedGroupsOf(settings, setup.group_layers, setup.bytes_known);
  absl::StatusOr<std::vector<PoolShape>> pools = PoolsOf(setup, groups);
  if (!pools.ok()) return pools.status();
  std::unique_ptr<ReplayPaging> paging(new ReplayPaging());
  paging->modelled_ = *pools;
  absl::StatusOr<std::unique_ptr<PagingBackend>> backend =
      MakeBackend(flags, *std::move(pools));
  if (!backend.ok()) return backend.status();
  paging->backend_ = *std::move(backend);
  paging->stream_ = std::make_unique<PageOpStream>(
      PageOpStreamOptions{
          groups, settings.enable_prefix_caching ? settings.HashTokens() : 0},
      paging->backend_.get());
  return paging;
}

void ReplayPaging::Fill(Report* report) const {
  FillPagingRun(*backend_, modelled_, *stream_, report);
}

}  // namespace kvsim
