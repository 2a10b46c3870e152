// An engine's cache groups as page operations see them, and what those cost.

#ifndef KVSIM_TOOLS_PAGED_GROUPS_H_
#define KVSIM_TOOLS_PAGED_GROUPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engines/vllm/settings.h"
#include "sim/cost_table.h"
#include "sim/paged_group.h"

namespace kvsim {

// `layers` of each group, where known. Where bytes are not known rows have 64 B, so
// that backends have something to move. REQUIRES: the settings are normalized.
std::vector<PagedGroup> PagedGroupsOf(const vllm::Settings& settings,
                                      const std::vector<int64_t>& layers,
                                      bool bytes_known);

// The table of --cost as typed; nothing for "". InvalidArgument names the flag or the
// file; a usage error when bytes are not known.
absl::StatusOr<std::optional<CostTable>> CostTableOf(const std::string& cost,
                                                     bool bytes_known);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_PAGED_GROUPS_H_
