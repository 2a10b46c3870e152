#include "sim/paged_cost.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/fixed_cost.h"
#include "sim/paging_work.h"

namespace kvsim {
namespace {

// One group of full attention, one of states, 16 tokens a block, two layers each.
std::vector<PagedGroup> Groups() {
  return {{.keeps = PagedGroup::Keeps::kAll,
           .block_tokens = 16,
           .layers = 2,
           .row_bytes = 2000,
           .block_bytes = 32'768},
          {.keeps = PagedGroup::Keeps::kState,
           .block_tokens = 16,
           .layers = 2,
           .state_bytes = 30'000,
           .block_bytes = 32'768}};
}

// A prompt of 40 tokens, a decode from 32 to 33 computed tokens, one from 40 to 41; a
// copy, two blocks out, one in.
StepPlan Plan() {
  StepPlan plan;
  plan.scheduled = {{.id = 0, .first_token = 0, .num_tokens = 40},
                    {.id = 1, .first_token = 32, .num_tokens = 1},
                    {.id = 2, .first_token = 40, .num_tokens = 1}};
  plan.total_tokens = 42;
  plan.admitted = {{.id = 0, .hit_tokens = 0}};
  plan.copies = {{.group = 0, .from = 1, .to = 2}};
  plan.swapped_out = {{7, 20, {{0, 3, 0}, {1, 4, 1}}}};
  plan.swapped_in = {{8, 20, {{0, 5, 2}}}};
  return plan;
}

TEST(PagingWorkTest, OfAPlan) {
  const std::vector<PagingAmounts> work = PagingWorkOf(Plan(), Groups());
  const auto of = [&](size_t group, PagingPart part) {
    return work[group][static_cast<size_t>(part)];
  };
  // 40 tokens: three entries; 33 tokens: a third one; 41: none. By group.
  EXPECT_EQ(of(0, PagingPart::kBlockTables), (PagingAmount{1, 4, 16}));
  EXPECT_EQ(of(1, PagingPart::kBlockTables), (PagingAmount{1, 4, 16}));
  EXPECT_EQ(of(0, PagingPart::kSlotMapping), (PagingAmount{1, 42, 336}));
  EXPECT_EQ(of(0, PagingPart::kWriteTokens), (PagingAmount{1, 42, 84'000}));
  EXPECT_EQ(of(1, PagingPart::kWriteTokens), PagingAmount());
  EXPECT_EQ(of(0, PagingPart::kCopyBlocks), (PagingAmount{1, 1, 32'768}));
  EXPECT_EQ(of(0, PagingPart::kSwapOut), (PagingAmount{1, 1, 32'768}));
  EXPECT_EQ(of(1, PagingPart::kSwapOut), (PagingAmount{1, 1, 32'768}));
  EXPECT_EQ(of(0, PagingPart::kSwapIn), (PagingAmount{1, 1, 32'768}));
  // The state of request 1 stood at a boundary and goes on in the next block.
  EXPECT_EQ(of(1, PagingPart::kCopyStates), (PagingAmount{1, 1, 30'000}));
}

// A call takes 1 us and a byte 1 ns, whatever it is.
CostTable OneNsAByte() {
  std::string operations;
  for (int part = 0; part < kNumPagingParts; ++part) {
    absl::StrAppend(&operations, part == 0 ? "" : ",", "\"",
                    PagingPartName(static_cast<PagingPart>(part)),
                    "\": [{\"unit_bytes\": 1, \"launch_ns\": 1000, "
                    "\"bytes_per_second\": 1e9}]");
  }
  return *CostTable::Parse(
      absl::StrCat("{\"kvsim_costs\": 1, \"backend\": \"host\", "
                   "\"measured_on\": \"a test\", \"operations\": {",
                   operations, "}}"),
      "costs.json");
}

TEST(PagedCostTest, AddsPagingToTheBatchAndLeavesSwapsToTheLink) {
  PagedCost cost(std::make_unique<FixedCost>(5'000'000), OneNsAByte(),
                 Groups());
  // Six calls; 16 + 16 + 336 + 84,000 + 32,768 + 30,000 B.
  constexpr int64_t kPaging = 6 * 1000 + 147'136;
  EXPECT_EQ(cost.StepNs(Plan()), 5'000'000 + kPaging);
  EXPECT_EQ(cost.StepNs(Plan()), 5'000'000 + kPaging);
  const PagingTotals& totals = cost.totals();
  EXPECT_EQ(totals.step_ns, 2 * (5'000'000 + kPaging));
  const auto write = static_cast<size_t>(PagingPart::kWriteTokens);
  EXPECT_EQ(totals.amounts[write], (PagingAmount{2, 84, 168'000}));
  EXPECT_EQ(totals.time_ns[write], 2 * 85'000);
  const auto out = static_cast<size_t>(PagingPart::kSwapOut);
  EXPECT_EQ(totals.amounts[out].items, 4);
  EXPECT_EQ(totals.time_ns[out], 0);
}

}  // namespace
}  // namespace kvsim
