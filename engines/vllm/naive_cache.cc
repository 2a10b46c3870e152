#include "engines/vllm/naive_cache.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/check.h"

namespace kvsim::vllm {
namespace {

NaiveCache::Tokens FirstTokens(const NaiveCache::Tokens& tokens, int64_t n) {
  return {tokens.begin(), tokens.begin() + n};
}

}  // namespace

NaiveCache::NaiveCache(const Settings& settings) : settings_(settings) {
  const auto n = static_cast<size_t>(settings.num_gpu_blocks);
  const auto rows = static_cast<size_t>(settings.block_size);
  blocks_.assign(n, {0, std::vector<bool>(rows, false)});
  for (BlockId id = 1; id < n; ++id) queue_.push_back(id);
}

int64_t NaiveCache::BlocksFor(int64_t tokens) const {
  int64_t blocks = 0;
  while (blocks * settings_.block_size < tokens) ++blocks;
  return blocks;
}

BlockId NaiveCache::Find(const Tokens& prefix) const {
  for (const auto& [keyed, id] : keys_) {
    if (keyed == prefix) return id;
  }
  return kNullBlock;
}

bool NaiveCache::Keyed(BlockId id) const {
  return std::any_of(keys_.begin(), keys_.end(),
                     [id](const auto& key) { return key.second == id; });
}

// The longest run from block 0 that leaves at least one token to compute; with
// a draft model the last block of it is computed again.
NaiveCache::Ids NaiveCache::Hit(const Holder& holder, int64_t known) const {
  Ids hit;
  const int64_t size = settings_.block_size;
  for (int64_t end = size; end <= known - 1; end += size) {
    const BlockId id = Find(FirstTokens(holder.tokens, end));
    if (id == kNullBlock) break;
    hit.push_back(id);
  }
  const bool draft_model =
      settings_.num_speculative_tokens > 0 &&
      settings_.speculative_method == SpeculativeMethod::kEagle;
  if (draft_model && !hit.empty()) hit.pop_back();
  return hit;
}

int64_t NaiveCache::Need(const Ids& hit, int64_t tokens) const {
  int64_t need = BlocksFor(tokens) - static_cast<int64_t>(hit.size());
  for (BlockId id : hit) {
    if (blocks_[id].owners == 0) ++need;
  }
  return need;
}

BlockId NaiveCache::Pop() {
  KVSIM_CHECK(!queue_.empty());
  const BlockId id = queue_.front();
  queue_.pop_front();
  if (Keyed(id)) ++evictions_;
  keys_.remove_if([id](const auto& key) { return key.second == id; });
  blocks_[id].owners = 1;
  blocks_[id].written.assign(blocks_[id].written.size(), false);
  ++allocations_;
  return id;
}

void NaiveCache::Take(Holder* holder, const Ids& hit, int64_t tokens) {
  for (BlockId id : hit) {
    if (blocks_[id].owners++ == 0) queue_.remove(id);
    holder->table.push_back(id);
    holder->num_written += settings_.block_size;
  }
  while (static_cast<int64_t>(holder->table.size()) < BlocksFor(tokens)) {
    holder->table.push_back(Pop());
  }
  holder->slots_end = tokens;
}

void NaiveCache::Key(const Holder& holder, int64_t known) {
  if (!settings_.enable_prefix_caching) return;
  const int64_t size = settings_.block_size;
  for (int64_t end = size; end <= known; end += size) {
    const BlockId id = holder.table[static_cast<size_t>(end / size - 1)];
    if (!Keyed(id)) keys_.emplace_back(FirstTokens(holder.tokens, end), id);
  }
}

void NaiveCache::Write(Holder* holder, int64_t num_tokens) {
  for (; num_tokens > 0; --num_tokens, ++holder->num_written) {
    const auto block = holder->num_written / settings_.block_size;
    const auto row = holder->num_written % settings_.block_size;
    const BlockId id = holder->table[static_cast<size_t>(block)];
    blocks_[id].written[static_cast<size_t>(row)] = true;
  }
}

// What others may hit is written before they can read it, so the rows of keyed
// blocks count as written when their owner leaves early.
void NaiveCache::Free(Holder* holder) {
  int64_t keyed_end = 0;
  for (BlockId id : holder->table) {
    if (Keyed(id)) keyed_end += settings_.block_size;
  }
  if (keyed_end > holder->num_written) {
    Write(holder, keyed_end - holder->num_written);
  }
  Ids to_front, to_back;
  for (auto id = holder->table.rbegin(); id != holder->table.rend(); ++id) {
    if (--blocks_[*id].owners > 0) continue;
    const bool front = !Keyed(*id) &&
                       settings_.free_order != FreeOrder::kAppend &&
                       (settings_.enable_prefix_caching ||
                        settings_.free_order == FreeOrder::kPrependUnkeyed);
    (front ? to_front : to_back).push_back(*id);
  }
  queue_.insert(queue_.begin(), to_front.begin(), to_front.end());
  queue_.insert(queue_.end(), to_back.begin(), to_back.end());
  holder->table.clear();
  holder->slots_end = holder->num_written = 0;
}

int64_t NaiveCache::NumDistinctKeys() const {
  std::set<Tokens> distinct;
  for (const auto& key : keys_) distinct.insert(key.first);
  return static_cast<int64_t>(distinct.size());
}

// --- the ledger, row by row ---------------------------------------------------------

LedgerSnapshot NaiveCache::Recount(
    const std::vector<const Holder*>& holders) const {
  const BlockGeometry& bytes = settings_.geometry;
  const int64_t block_bytes = settings_.block_size * bytes.row_bytes +
                              bytes.page_padding + bytes.slot_padding;
  const auto num_blocks = static_cast<int64_t>(blocks_.size());
  LedgerSnapshot ledger;
  ledger.pool_bytes = settings_.pool_bytes > 0 ? settings_.pool_bytes
                                               : num_blocks * block_bytes;
  ledger[Account::kRemainder] = ledger.pool_bytes - num_blocks * block_bytes;
  ledger[Account::kNull] = block_bytes;
  for (BlockId id : queue_) {
    ledger[Keyed(id) ? Account::kIdle : Account::kFree] += block_bytes;
    if (!Keyed(id)) continue;
    ledger[OfWhich::kIdlePadding] += bytes.page_padding + bytes.slot_padding;
  }
  // Rows that some owner has a slot for.
  std::map<BlockId, std::vector<bool>> asked;
  for (const Holder* holder : holders) {
    for (size_t i = 0; i < holder->table.size(); ++i) {
      std::vector<bool>& rows = asked[holder->table[i]];
      rows.resize(static_cast<size_t>(settings_.block_size), false);
      for (size_t row = 0; row < rows.size(); ++row) {
        const auto position = static_cast<int64_t>(i * rows.size() + row);
        if (position < holder->slots_end) rows[row] = true;
      }
    }
  }
  for (const auto& [id, rows] : asked) CountHeld(id, rows, &ledger);
  for (const auto& [prefix, id] : keys_) {
    if (Find(prefix) != id) ledger[OfWhich::kDuplicates] += block_bytes;
  }
  return ledger;
}

void NaiveCache::CountHeld(BlockId id, const std::vector<bool>& asked,
                           LedgerSnapshot* ledger) const {
  const Block& block = blocks_[id];
  const int64_t row_bytes = settings_.geometry.row_bytes;
  (*ledger)[Account::kSlotPadding] += settings_.geometry.slot_padding;
  (*ledger)[Account::kPagePadding] += settings_.geometry.page_padding;
  for (size_t row = 0; row < asked.size(); ++row) {
    if (block.written[row]) {
      (*ledger)[Account::kLive] += row_bytes;
      if (block.owners > 1) (*ledger)[OfWhich::kSharedRows] += row_bytes;
      (*ledger)[OfWhich::kSharingSaved] += (block.owners - 1) * row_bytes;
    } else if (asked[row]) {
      (*ledger)[Account::kInFlight] += row_bytes;
    } else {
      (*ledger)[Account::kTailSlack] += row_bytes;
    }
  }
}

}  // namespace kvsim::vllm
