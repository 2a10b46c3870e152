// A step's time with its paging: another cost model's time, and what a table of
// measured costs makes of the step's page operations.
//
// Model:      paging runs before the batch and overlaps with nothing. Swaps are left
//             to sim/host_link.h, which prices them in every run.
// Units:      nanoseconds; bytes of one rank.
// Ownership:  owns both.
#ifndef KVSIM_SIM_PAGED_COST_H_
#define KVSIM_SIM_PAGED_COST_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sim/cost_model.h"
#include "sim/cost_table.h"
#include "sim/paged_group.h"
#include "sim/paging_work.h"

namespace kvsim {

// Of a whole run.
struct PagingTotals {
  PagingAmounts amounts;
  std::array<int64_t, kNumPagingParts> time_ns = {};
  int64_t step_ns = 0;  // of all steps, paging included but for swaps
};

class PagedCost final : public CostModel {
 public:
  PagedCost(std::unique_ptr<CostModel> batch, CostTable table,
            std::vector<PagedGroup> groups)
      : batch_(std::move(batch)),
        table_(std::move(table)),
        groups_(std::move(groups)) {}

  int64_t StepNs(const StepPlan& batch) override;
  absl::Status status() const override { return batch_->status(); }

  const CostTable& table() const { return table_; }
  const PagingTotals& totals() const { return totals_; }

 private:
  // What moves in one piece.
  int64_t UnitOf(PagingPart part, const PagedGroup& group) const;

  std::unique_ptr<CostModel> batch_;
  CostTable table_;
  std::vector<PagedGroup> groups_;
  PagingTotals totals_;
};

}  // namespace kvsim

#endif  // KVSIM_SIM_PAGED_COST_H_
