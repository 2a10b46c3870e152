// What one step asks of paging, told from its plan alone.
//
// Model:      per part of paging (sim/cost_table.h) the calls, the items and the bytes
//             of one rank: a call is one kernel over all layers of a cache group.
//   block_tables  entries that tables grew by: all of an admission, a return from
//                 host memory or a fork, else what the chunk adds; 4 B each
//   slot_mapping  scheduled tokens in each group that has rows; 8 B each
//   write_tokens  their rows
//   copy_blocks   blocks of plan.copies
//   swap_out, swap_in  blocks of the plan's swaps
//   copy_states   recurrent states that move to the block where the chunk ends
//                 (align mode)
//             Drafts count as tokens; slots reserved for the next ones do not.
// Costs:      O(scheduled requests · groups).
#ifndef KVSIM_SIM_PAGING_WORK_H_
#define KVSIM_SIM_PAGING_WORK_H_

#include <array>
#include <cstdint>
#include <vector>

#include "engines/engine.h"
#include "sim/cost_table.h"
#include "sim/paged_group.h"

namespace kvsim {

struct PagingAmount {
  int64_t launches = 0;
  int64_t items = 0;
  int64_t bytes = 0;

  PagingAmount& operator+=(const PagingAmount& other);
  friend bool operator==(const PagingAmount&, const PagingAmount&) = default;
};

// Of one group, indexed by PagingPart.
using PagingAmounts = std::array<PagingAmount, kNumPagingParts>;

// By group.
std::vector<PagingAmounts> PagingWorkOf(const StepPlan& plan,
                                        const std::vector<PagedGroup>& groups);

}  // namespace kvsim

#endif  // KVSIM_SIM_PAGING_WORK_H_
