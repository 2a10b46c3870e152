#include "engines/vllm/recurrent_manager.h"

#include <algorithm>

#include "base/check.h"
#include "base/units.h"

namespace kvsim::vllm {

RecurrentManager::RecurrentManager(const Settings& settings,
                                   const CacheUnits& units, size_t index,
                                   BlockPool* pool)
    : GroupManager(settings, units, index, pool),
      num_drafts_(settings.num_speculative_tokens),
      guards_same_step_(settings.same_step_state_guard),
      frees_every_old_state_(settings.frees_every_old_state),
      keeps_prompt_end_(retention_.boundaries.prompt_end ||
                        !settings.checkpoints.has_value()) {}

int64_t RecurrentManager::SkippedTokens(int64_t computed) const {
  return align() ? std::max<int64_t>(0, computed - 1) : 0;
}

// In align mode drafts have states of their own, one each; otherwise as many blocks.
int64_t RecurrentManager::BlocksFor(const SlotRequest& slots) const {
  const int64_t tokens = align() ? slots.main_end : slots.slots_end;
  return CeilDiv(tokens, group_.block_tokens) + num_drafts_;
}

bool RecurrentManager::WritesKeyedState(const RequestBlocks& request,
                                        int64_t computed) const {
  if (!align() || computed % group_.block_tokens == 0) return false;
  const std::vector<BlockId>& table = Of(request).table;
  const auto at = static_cast<size_t>(computed / group_.block_tokens);
  return at < table.size() && pool_.HasPartialKey(table[at]);
}

int64_t RecurrentManager::Need(const RequestBlocks& request,
                               const SlotRequest& slots,
                               const GroupHit* hit) const {
  if (guards_same_step_ && hit != nullptr && !hit->blocks.empty() &&
      keyed_this_step_.contains(KeyAt(request, slots.hit))) {
    return kNotThisStep;
  }
  if (!align()) return GroupManager::Need(request, slots, hit);
  const GroupBlocks& blocks = Of(request);
  const auto served = hit == nullptr ? 0 : hit->size();
  const auto held = static_cast<int64_t>(blocks.table.size());
  const int64_t taken = blocks.started ? 1 : 1 + num_drafts_;
  const int64_t unheld = hit == nullptr ? 0 : hit->unheld;
  const bool copies = hit == nullptr
                          ? WritesKeyedState(request, slots.computed)
                          : served > 0 && slots.hit % group_.block_tokens != 0;
  if (copies) return taken + 1 + unheld;
  return (BlocksFor(slots) > served + held ? taken : 0) + unheld;
}

bool RecurrentManager::CopyOnWrite(RequestBlocks* request, int64_t computed,
                                   bool admitted, BlockCopy* copy) {
  if (!align() || computed % group_.block_tokens == 0) return false;
  GroupBlocks& blocks = Of(request);
  if (!admitted && !WritesKeyedState(*request, computed)) return false;
  copy->group = static_cast<int>(index_);
  const auto at = static_cast<size_t>(computed / group_.block_tokens);
  copy->from = blocks.table[at];
  std::vector<BlockId> taken;
  pool_.Allocate(1, &taken, copy->group);
  copy->to = taken[0];
  if (admitted) {  // the copy is its running state
    blocks.table[at] = copy->to;
    pool_.Touch(copy->to);
  } else {  // the copy is the checkpoint
    pool_.Touch(copy->from);
    pool_.MovePartialKeys(copy->from, copy->to);
  }
  return true;
}

void RecurrentManager::Take(RequestBlocks* request, const SlotRequest& slots) {
  GroupBlocks& blocks = Of(request);
  const int64_t required = BlocksFor(slots);
  const auto held = static_cast<int64_t>(blocks.table.size());
  if (required <= held) return;
  if (align()) {
    TakeAligned(&blocks, required);
  } else {
    pool_.Allocate(required - held, &blocks.table, static_cast<int>(index_));
  }
}

void RecurrentManager::TakeAligned(GroupBlocks* blocks, int64_t required) {
  std::vector<BlockId>& table = blocks->table;
  const auto held = static_cast<int64_t>(table.size());
  const int64_t state = blocks->started ? held - 1 - num_drafts_ : held - 1;
  // The running state goes to entry `running`; nothing is kept before it. The
  // copy of a state that was hit in part stays where it is.
  const int64_t running = required - num_drafts_ - 1;
  if (state >= 0 && state < running) {
    if (!frees_every_old_state_) blocks->older.clear();
    blocks->older.push_back(state);
  }
  if (held < running) table.resize(static_cast<size_t>(running), kNullBlock);
  if (blocks->started) {  // states of earlier drafts serve again
    for (int64_t i = held - num_drafts_; i < std::min(held, running); ++i) {
      table.push_back(table[static_cast<size_t>(i)]);
      table[static_cast<size_t>(i)] = kNullBlock;
    }
  }
  const int64_t missing = required - static_cast<int64_t>(table.size());
  KVSIM_CHECK(missing >= 0 &&
              missing <= (blocks->started ? 1 : 1 + num_drafts_));
  pool_.Allocate(missing, &table, static_cast<int>(index_));
  blocks->started = true;
}

void RecurrentManager::ReleaseEntry(RequestBlocks* request, size_t entry) {
  BlockId& id = Of(request).table[entry];
  if (id == kNullBlock) return;
  if (worth_ != nullptr) RaiseValue(*request, entry);
  pool_.ReleaseReversed(std::span(&id, 1));
  id = kNullBlock;
}

void RecurrentManager::DropSkipped(RequestBlocks* request, int64_t processed) {
  if (!align()) return;
  GroupManager::DropSkipped(request, processed);
  GroupBlocks& blocks = Of(request);
  const int64_t last = CeilDiv(processed, group_.block_tokens) - 1;
  std::erase_if(blocks.older, [&](int64_t index) {
    if (index >= last) return false;
    ReleaseEntry(request, static_cast<size_t>(index));
    return true;
  });
}

void RecurrentManager::CacheBlocks(RequestBlocks* request, int64_t num_tokens,
                                   int64_t known) {
  KeyFullBlocks(request, num_tokens);
  if (!units_.fine_hits || !keeps_prompt_end_) return;
  const int64_t end =
      request->num_prompt / units_.hash_tokens * units_.hash_tokens;
  GroupBlocks& blocks = Of(request);
  if (blocks.partial_keyed || known != end || end % group_.block_tokens == 0) {
    return;
  }
  const auto at = static_cast<size_t>(end / group_.block_tokens);
  const BlockKey key = KeyAt(*request, end);
  pool_.AssignPartialKey(blocks.table[at], key);
  NoteKeyed(key);
  blocks.partial_keyed = true;
}

int64_t RecurrentManager::ForkNeed(const RequestBlocks& parent) const {
  const std::vector<BlockId>& table = Of(parent).table;
  const auto size = static_cast<int64_t>(table.size());
  const int64_t finished =
      std::min(size, parent.rows_done / group_.block_tokens);
  return size - finished -
         std::count(table.begin() + static_cast<std::ptrdiff_t>(finished),
                    table.end(), kNullBlock);
}

int64_t RecurrentManager::Fork(const RequestBlocks& parent,
                               RequestBlocks* child,
                               std::vector<BlockCopy>* copies) {
  forked_ = true;
  GroupBlocks& blocks = Of(child);
  blocks = Of(parent);
  const auto finished =
      static_cast<size_t>(parent.rows_done / group_.block_tokens);
  int64_t shared = 0;
  for (size_t i = 0; i < blocks.table.size(); ++i) {
    BlockId& entry = blocks.table[i];
    if (entry == kNullBlock) continue;
    pool_.Touch(entry);
    if (i < finished) {
      ++shared;
      continue;
    }
    const BlockId from = entry;
    std::vector<BlockId> taken;
    pool_.Allocate(1, &taken, static_cast<int>(index_));
    entry = taken[0];
    pool_.Touch(entry);
    copies->push_back({static_cast<int>(index_), from, entry});
    NoteCopy(copies->back());
  }
  return shared;
}

// Every held state has one role; a shared one the strongest any owner gives it.
void RecurrentManager::AddAccounts(const std::vector<RequestBlocks*>& requests,
                                   LedgerSnapshot* ledger) const {
  AddCommonAccounts(ledger);
  const BlockPool::GroupSums& sums = pool_.group(static_cast<int>(index_));
  (*ledger)[OfWhich::kIdleCheckpoints] +=
      group_.geometry.state_bytes * sums.idle;
  int64_t current = 0, previous = 0, drafts = 0;
  std::vector<std::pair<BlockId, int>> shared;  // role: 0, 1, 2
  const auto count = [&](BlockId id, int role, int64_t* own) {
    if (id == kNullBlock) return;
    if (pool_.RefCount(id) == 1) {
      ++*own;
    } else {
      shared.emplace_back(id, role);
    }
  };
  for (const RequestBlocks* request : requests) {
    const GroupBlocks& blocks = Of(*request);
    const auto size = static_cast<int64_t>(blocks.table.size());
    for (int64_t i = std::max<int64_t>(0, size - 1 - num_drafts_); i < size;
         ++i) {
      const bool runs = i == size - 1 - num_drafts_;
      count(blocks.table[static_cast<size_t>(i)], runs ? 0 : 2,
            runs ? &current : &drafts);
    }
    for (int64_t i : blocks.older) {
      count(blocks.table[static_cast<size_t>(i)], 1, &previous);
    }
  }
  std::sort(shared.begin(), shared.end());
  for (size_t i = 0; i < shared.size(); ++i) {
    if (i > 0 && shared[i].first == shared[i - 1].first) continue;
    ++(shared[i].second == 0   ? current
       : shared[i].second == 1 ? previous
                               : drafts);
  }
  const int64_t state = group_.geometry.state_bytes;
  (*ledger)[Account::kStateCurrent] += state * current;
  (*ledger)[Account::kStatePrevious] += state * previous;
  (*ledger)[Account::kStateSpeculative] += state * drafts;
  (*ledger)[Account::kStateCheckpoint] +=
      state * (sums.held - current - previous - drafts);
}

}  // namespace kvsim::vllm
