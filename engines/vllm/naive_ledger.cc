// The ledger of NaiveCache, counted row by row and state by state.
#include <algorithm>
#include <map>

#include "engines/vllm/naive_cache.h"

namespace kvsim::vllm {

LedgerSnapshot NaiveCache::Recount(
    const std::vector<const Holder*>& holders) const {
  const int64_t block_bytes = Group(0).BlockBytes();
  const int64_t num_blocks = pool_.num_blocks();
  LedgerSnapshot ledger;
  ledger.pool_bytes = settings_.pool_bytes > 0 ? settings_.pool_bytes
                                               : num_blocks * block_bytes;
  ledger[Account::kRemainder] = ledger.pool_bytes - num_blocks * block_bytes;
  ledger[Account::kNull] = block_bytes;
  for (BlockId id : pool_.FreeQueue()) {
    if (!pool_.HasAnyKey(id)) ledger[Account::kFree] += block_bytes;
  }
  for (size_t g = 0; g < settings_.groups.size(); ++g) {
    CountGroup(g, holders, &ledger);
  }
  ledger[OfWhich::kDuplicates] =
      static_cast<int64_t>(pool_.Duplicates().size()) * block_bytes;
  return ledger;
}

LedgerSnapshot NaiveCache::RecountGroup(
    size_t group, const std::vector<const Holder*>& holders) const {
  LedgerSnapshot ledger;
  CountGroup(group, holders, &ledger);
  ledger.pool_bytes = ledger.Sum();
  return ledger;
}

void NaiveCache::CountGroup(size_t g, const std::vector<const Holder*>& holders,
                            LedgerSnapshot* out) const {
  LedgerSnapshot& ledger = *out;
  const CacheGroup& group = Group(g);
  const BlockGeometry& bytes = group.geometry;
  const bool recurrent = group.kind == GroupKind::kRecurrent;
  for (BlockId id : pool_.FreeQueue()) {
    if (!pool_.HasAnyKey(id) || pool_.GroupOf(id) != g) continue;
    ledger[Account::kIdle] += group.BlockBytes();
    ledger[OfWhich::kIdlePadding] += bytes.page_padding + bytes.slot_padding;
    if (recurrent) ledger[OfWhich::kIdleCheckpoints] += bytes.state_bytes;
  }
  for (BlockId id = 1; id < static_cast<BlockId>(pool_.num_blocks()); ++id) {
    if (pool_.Owners(id) == 0 || pool_.GroupOf(id) != g) continue;
    ledger[Account::kSlotPadding] += bytes.slot_padding;
    ledger[Account::kPagePadding] += bytes.page_padding;
    if (recurrent) {
      CountState(id, holders, &ledger);
    } else {
      CountRows(id, holders, &ledger);
    }
  }
}

// A row counts in the strongest state that any owner gives it.
void NaiveCache::CountRows(BlockId id,
                           const std::vector<const Holder*>& holders,
                           LedgerSnapshot* ledger) const {
  const size_t g = pool_.GroupOf(id);
  const int64_t row_bytes = Group(g).geometry.row_bytes;
  const std::vector<bool>& written = pool_.Rows(id);
  std::vector<bool> asked(written.size()), wanted(written.size());
  for (const Holder* holder : holders) {
    if (!holder->holds()) continue;
    const Table& table = holder->tables[g];
    const int64_t skipped = rules_.Skipped(g, holder->num_written);
    for (size_t i = 0; i < table.ids.size(); ++i) {
      for (size_t row = 0; row < asked.size() && table.ids[i] == id; ++row) {
        const auto position = static_cast<int64_t>(i * asked.size() + row);
        asked[row] = asked[row] || position < table.slots_end;
        wanted[row] = wanted[row] || position >= skipped;
      }
    }
  }
  const int64_t owners = pool_.Owners(id);
  for (size_t row = 0; row < asked.size(); ++row) {
    Account account = Account::kTailSlack;
    if (written[row]) {
      account = wanted[row] ? Account::kLive : Account::kWindowSlack;
      if (owners > 1) (*ledger)[OfWhich::kSharedRows] += row_bytes;
      (*ledger)[OfWhich::kSharingSaved] += (owners - 1) * row_bytes;
    } else if (asked[row]) {
      account = Account::kInFlight;
    }
    (*ledger)[account] += row_bytes;
  }
}

void NaiveCache::CountState(BlockId id,
                            const std::vector<const Holder*>& holders,
                            LedgerSnapshot* ledger) const {
  const size_t g = pool_.GroupOf(id);
  const Account strength[] = {Account::kStateCurrent, Account::kStatePrevious,
                              Account::kStateSpeculative,
                              Account::kStateCheckpoint};
  size_t best = 3;
  for (const Holder* holder : holders) {
    if (!holder->holds()) continue;
    const Ids& ids = holder->tables[g].ids;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] != id) continue;
      const Account role = RoleOf(g, *holder, static_cast<int64_t>(i));
      for (size_t s = 0; s < best; ++s) {
        if (strength[s] == role) best = s;
      }
    }
  }
  (*ledger)[strength[best]] += Group(g).geometry.state_bytes;
}

Account NaiveCache::RoleOf(size_t g, const Holder& holder,
                           int64_t place) const {
  const Table& table = holder.tables[g];
  const int64_t running = static_cast<int64_t>(table.ids.size()) - 1 -
                          settings_.num_speculative_tokens;
  if (place > running) return Account::kStateSpeculative;
  if (place == running) return Account::kStateCurrent;
  const bool previous = std::find(table.older.begin(), table.older.end(),
                                  place) != table.older.end();
  return previous ? Account::kStatePrevious : Account::kStateCheckpoint;
}

}  // namespace kvsim::vllm
