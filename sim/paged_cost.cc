#include "sim/paged_cost.h"

#include <algorithm>

namespace kvsim {

int64_t PagedCost::UnitOf(PagingPart part, const PagedGroup& group) const {
  switch (part) {
    case PagingPart::kBlockTables:
      return 4;
    case PagingPart::kSlotMapping:
      return 8;
    case PagingPart::kWriteTokens:
      return std::max<int64_t>(1, group.row_bytes / group.layers);
    case PagingPart::kCopyStates:
      return std::max<int64_t>(1, group.state_bytes / group.layers);
    case PagingPart::kCopyBlocks:
    case PagingPart::kSwapOut:
    case PagingPart::kSwapIn:
      break;
  }
  return group.PageBytes();
}

int64_t PagedCost::StepNs(const StepPlan& batch) {
  int64_t sum = batch_->StepNs(batch);
  const std::vector<PagingAmounts> work = PagingWorkOf(batch, groups_);
  for (size_t g = 0; g < groups_.size(); ++g) {
    for (size_t i = 0; i < work[g].size(); ++i) {
      const PagingAmount& amount = work[g][i];
      if (amount.items == 0) continue;
      const auto part = static_cast<PagingPart>(i);
      totals_.amounts[i] += amount;
      if (part == PagingPart::kSwapOut || part == PagingPart::kSwapIn) continue;
      const int64_t ns = table_.Ns(part, amount.launches, amount.bytes,
                                   UnitOf(part, groups_[g]));
      totals_.time_ns[i] += ns;
      sum += ns;
    }
  }
  totals_.step_ns += sum;
  return sum;
}

}  // namespace kvsim
