#include "sim/paging_work.h"

#include <algorithm>

namespace kvsim {
namespace {

constexpr int64_t kEntryBytes = 4;
constexpr int64_t kSlotBytes = 8;

class StepWork {
 public:
  StepWork(const StepPlan& plan, const std::vector<PagedGroup>& groups)
      : plan_(plan), groups_(groups), amounts_(groups.size()) {}

  std::vector<PagingAmounts> Take() {
    for (const ScheduledRequest& work : plan_.scheduled) AddRequest(work);
    for (const BlockCopy& copy : plan_.copies) {
      AddBlock(PagingPart::kCopyBlocks, copy.group);
    }
    for (const SwappedRequest& swap : plan_.swapped_out) {
      for (const BlockSwap& b : swap.blocks) {
        AddBlock(PagingPart::kSwapOut, b.group);
      }
    }
    for (const SwappedRequest& swap : plan_.swapped_in) {
      for (const BlockSwap& b : swap.blocks) {
        AddBlock(PagingPart::kSwapIn, b.group);
      }
    }
    for (PagingAmounts& group : amounts_) {
      for (PagingAmount& part : group) part.launches = part.items > 0 ? 1 : 0;
    }
    return std::move(amounts_);
  }

 private:
  void Add(size_t group, PagingPart part, int64_t items, int64_t bytes) {
    PagingAmount& amount = amounts_[group][static_cast<size_t>(part)];
    amount.items += items;
    amount.bytes += items * bytes;
  }

  void AddBlock(PagingPart part, int group) {
    const auto g = static_cast<size_t>(group);
    Add(g, part, 1, groups_[g].block_bytes);
  }

  bool IsNew(RequestId id) const {
    const auto names = [id](const auto& entry) { return entry.id == id; };
    return std::any_of(plan_.admitted.begin(), plan_.admitted.end(), names) ||
           std::any_of(plan_.resumed.begin(), plan_.resumed.end(), names) ||
           std::any_of(plan_.swapped_in.begin(), plan_.swapped_in.end(), names);
  }

  void AddRequest(const ScheduledRequest& work) {
    const bool is_new = IsNew(work.id);
    const int64_t end = work.first_token + work.num_tokens;
    for (size_t g = 0; g < groups_.size(); ++g) {
      const PagedGroup& group = groups_[g];
      if (group.keeps == PagedGroup::Keeps::kEncoder) {
        if (is_new) AddEncoder(g);
        continue;
      }
      const int64_t before =
          CeilDiv(is_new ? 0 : work.first_token, group.block_tokens);
      Add(g, PagingPart::kBlockTables,
          CeilDiv(end, group.block_tokens) - before, kEntryBytes);
      if (group.holds_rows()) {
        Add(g, PagingPart::kSlotMapping, work.num_tokens, kSlotBytes);
        Add(g, PagingPart::kWriteTokens, work.num_tokens, group.row_bytes);
      } else if (group.state_mode == StateMode::kAlign &&
                 work.first_token > 0 &&
                 group.EntryOf(work.first_token) != group.EntryOf(end)) {
        Add(g, PagingPart::kCopyStates, 1, group.state_bytes);
      }
    }
  }

  void AddEncoder(size_t g) {
    const PagedGroup& group = groups_[g];
    Add(g, PagingPart::kBlockTables, CeilDiv(group.tokens, group.block_tokens),
        kEntryBytes);
    Add(g, PagingPart::kSlotMapping, group.tokens, kSlotBytes);
    Add(g, PagingPart::kWriteTokens, group.tokens, group.row_bytes);
  }

  const StepPlan& plan_;
  const std::vector<PagedGroup>& groups_;
  std::vector<PagingAmounts> amounts_;
};

}  // namespace

PagingAmount& PagingAmount::operator+=(const PagingAmount& other) {
  launches += other.launches;
  items += other.items;
  bytes += other.bytes;
  return *this;
}

std::vector<PagingAmounts> PagingWorkOf(const StepPlan& plan,
                                        const std::vector<PagedGroup>& groups) {
  return StepWork(plan, groups).Take();
}

}  // namespace kvsim
