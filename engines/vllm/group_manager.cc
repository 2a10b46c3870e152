#include "engines/vllm/group_manager.h"

#include <algorithm>

#include "base/units.h"
#include "engines/vllm/prefix_lookup.h"
#include "engines/vllm/recurrent_manager.h"

namespace kvsim::vllm {
namespace {

// What one request of any length may hold at once, chunks in flight included.
int64_t MaxAdmissionBlocks(const CacheGroup& group, const Settings& settings) {
  const int64_t in_flight = settings.MaxTokensInFlight();
  const int64_t length = settings.max_model_len;
  switch (group.kind) {
    case GroupKind::kSlidingWindow:
      return CeilDiv(std::min(group.window - 1 + group.extra_window + in_flight,
                              length),
                     group.block_tokens) +
             1;
    case GroupKind::kChunkedLocal:
      return CeilDiv(std::min(group.chunk + in_flight, length),
                     group.block_tokens);
    default:
      return INT64_MAX;
  }
}

}  // namespace

std::unique_ptr<GroupManager> GroupManager::Create(const Settings& settings,
                                                   const CacheUnits& units,
                                                   size_t index,
                                                   BlockPool* pool) {
  if (settings.groups[index].kind == GroupKind::kRecurrent) {
    return std::make_unique<RecurrentManager>(settings, units, index, pool);
  }
  return std::unique_ptr<GroupManager>(
      new GroupManager(settings, units, index, pool));
}

GroupManager::GroupManager(const Settings& settings, const CacheUnits& units,
                           size_t index, BlockPool* pool)
    : group_(settings.groups[index]),
      units_(units),
      index_(index),
      keeps_every_key_(group_.kind == GroupKind::kFull ||
                       group_.kind == GroupKind::kChunkedLocal ||
                       !settings.sparse_keys),
      keys_margin_(settings.DropsLastHit() &&
                   (group_.kind == GroupKind::kFull ||
                    group_.kind == GroupKind::kSlidingWindow)),
      keys_partial_blocks_(settings.partial_hits),
      max_admission_blocks_(settings.window_admission_cap
                                ? MaxAdmissionBlocks(group_, settings)
                                : INT64_MAX),
      pool_(*pool) {
  retention_.boundaries =
      Boundaries::Of(settings.Checkpoints(), units.scheduler_tokens);
  retention_.block = group_.block_tokens;
  retention_.tail = group_.TailBlocks();
  if (group_.kind == GroupKind::kSlidingWindow && settings.DropsLastHit()) {
    retention_.tail += 1;
    retention_.margin = 1;
  }
}

// --- lengths ----------------------------------------------------------------------

int64_t GroupManager::SkippedTokens(int64_t computed) const {
  switch (group_.kind) {
    case GroupKind::kSlidingWindow:
      return std::max<int64_t>(
          0, computed - group_.window + 1 - group_.extra_window);
    case GroupKind::kChunkedLocal:
      return computed / group_.chunk * group_.chunk;
    default:
      return 0;
  }
}

int64_t GroupManager::SlotsEnd(const SlotRequest& slots) const {
  return group_.kind == GroupKind::kCross ? group_.encoder_tokens
                                          : slots.slots_end;
}

int64_t GroupManager::BlocksFor(const SlotRequest& slots) const {
  return CeilDiv(SlotsEnd(slots), group_.block_tokens);
}

int64_t GroupManager::TailSlack(const GroupBlocks& blocks) const {
  if (blocks.slots_end == 0) return 0;
  return static_cast<int64_t>(blocks.table.size()) * group_.block_tokens -
         blocks.slots_end;
}

int64_t GroupManager::Need(const RequestBlocks& request,
                           const SlotRequest& slots,
                           const GroupHit* hit) const {
  int64_t required = BlocksFor(slots);
  if (slots.whole_prompt) required = std::min(required, max_admission_blocks_);
  const auto held = static_cast<int64_t>(Of(request).table.size());
  if (hit == nullptr) {
    return std::max<int64_t>(required - held, 0) +
           (WritesShared(request, slots.computed) ? 1 : 0);
  }
  const int64_t skipped = SkippedTokens(slots.hit) / group_.block_tokens;
  const int64_t served = hit->size();
  const int64_t copied =
      served > 0 && slots.hit % group_.block_tokens != 0 ? 1 : 0;
  return std::max<int64_t>(required - std::max(skipped, served), 0) + copied +
         hit->unheld;
}

// --- taking -----------------------------------------------------------------------

void GroupManager::TakeHit(RequestBlocks* request, const GroupHit& hit,
                           int64_t hit_tokens) {
  GroupBlocks& blocks = Of(request);
  for (BlockId id : hit.blocks) pool_.Touch(id);
  blocks.table.assign(static_cast<size_t>(hit.nulls), kNullBlock);
  blocks.table.insert(blocks.table.end(), hit.blocks.begin(), hit.blocks.end());
  blocks.num_keyed = hit_tokens / group_.block_tokens;
}

bool GroupManager::CopyOnWrite(RequestBlocks* request, int64_t computed,
                               bool admitted, BlockCopy* copy) {
  const int64_t rows = computed % group_.block_tokens;
  if (!admitted || rows == 0 || group_.kind == GroupKind::kCross) return false;
  CopyEntry(&Of(request), computed, copy);
  return true;
}

bool GroupManager::CopyShared(RequestBlocks* request, int64_t computed,
                              BlockCopy* copy) {
  if (!WritesShared(*request, computed)) return false;
  GroupBlocks& blocks = Of(request);
  CopyEntry(&blocks, computed, copy);
  // The old block's slack is the other owners' from here on.
  if (blocks.table.back() == copy->to) tail_slack_rows_ += TailSlack(blocks);
  return true;
}

// The table's place in the block becomes the copies'.
void GroupManager::CopyEntry(GroupBlocks* blocks, int64_t computed,
                             BlockCopy* copy) {
  BlockId& entry =
      blocks->table[static_cast<size_t>(computed / group_.block_tokens)];
  copy->group = static_cast<int>(index_);
  copy->from = entry;
  std::vector<BlockId> taken;
  pool_.Allocate(1, &taken, copy->group);
  copy->to = entry = taken[0];
  pool_.Touch(copy->to);
  pool_.AddRows(copy->to, computed % group_.block_tokens);
  NoteCopy(*copy);
}

void GroupManager::Take(RequestBlocks* request, const SlotRequest& slots) {
  GroupBlocks& blocks = Of(request);
  tail_slack_rows_ -= TailSlack(blocks);
  const int64_t missing =
      BlocksFor(slots) - static_cast<int64_t>(blocks.table.size());
  if (missing > 0) {
    pool_.Allocate(missing, &blocks.table, static_cast<int>(index_));
  }
  blocks.slots_end = SlotsEnd(slots);
  tail_slack_rows_ += TailSlack(blocks);
}

// --- keys -------------------------------------------------------------------------

BlockKey GroupManager::KeyAt(const RequestBlocks& request,
                             int64_t tokens) const {
  const int64_t units = tokens / units_.hash_tokens;
  return GroupKey(request.keys->Prefix(units)[static_cast<size_t>(units) - 1],
                  index_);
}

void GroupManager::KeyFullBlocks(RequestBlocks* request, int64_t num_tokens) {
  GroupBlocks& blocks = Of(request);
  const int64_t full = num_tokens / group_.block_tokens;
  if (full <= blocks.num_keyed) return;
  const int64_t stride = group_.block_tokens / units_.hash_tokens;
  const std::span<const uint64_t> keys = request->keys->Prefix(full * stride);
  constexpr int64_t kAhead = 16;
  for (int64_t i = blocks.num_keyed; i < full; ++i) {
    if (!keeps_every_key_) {
      i = retention_.NextKept(i, request->num_prompt, request->junction);
      if (i >= full) break;
    }
    const BlockId id = blocks.table[static_cast<size_t>(i)];
    if (id == kNullBlock || (forked_ && pool_.HasKey(id))) continue;
    if (keeps_every_key_ && i + kAhead < full) {
      pool_.PrefetchKey(GroupKey(
          keys[static_cast<size_t>((i + kAhead + 1) * stride - 1)], index_));
    }
    const BlockKey key =
        GroupKey(keys[static_cast<size_t>((i + 1) * stride - 1)], index_);
    pool_.AssignKey(id, key);
    NoteKeyed(key);
  }
  blocks.num_keyed = full;
}

void GroupManager::CacheBlocks(RequestBlocks* request, int64_t num_tokens,
                               int64_t known) {
  if (group_.kind == GroupKind::kCross) return;
  int64_t keyed = num_tokens;
  if (keys_margin_) {
    const int64_t whole = known / group_.block_tokens * group_.block_tokens;
    keyed = std::min(keyed + group_.block_tokens, whole);
  }
  KeyFullBlocks(request, keyed);
  if (group_.kind != GroupKind::kFull || !keys_partial_blocks_ ||
      units_.hash_tokens == group_.block_tokens) {
    return;
  }
  // The prompt's last unit, when it ends inside a block.
  GroupBlocks& blocks = Of(request);
  const int64_t end =
      request->num_prompt / units_.hash_tokens * units_.hash_tokens;
  const int64_t index = end / group_.block_tokens;
  if (blocks.partial_keyed || end % group_.block_tokens == 0 || known < end ||
      index < blocks.num_keyed) {
    return;
  }
  pool_.AssignPartialKey(blocks.table[static_cast<size_t>(index)],
                         KeyAt(*request, end));
  blocks.partial_keyed = true;
}

// --- giving back ------------------------------------------------------------------

void GroupManager::DropSkipped(RequestBlocks* request, int64_t processed) {
  const int64_t skipped = SkippedTokens(processed) / group_.block_tokens;
  if (skipped <= 0) return;
  std::vector<BlockId>& table = Of(request).table;
  const size_t end = std::min(static_cast<size_t>(skipped), table.size());
  size_t begin = end;
  while (begin > 0 && table[begin - 1] != kNullBlock) --begin;
  if (begin == end) return;
  // Others may hit what is still in flight: it is computed before they read it.
  const auto first = static_cast<int64_t>(begin) * group_.block_tokens;
  const int64_t keyed =
      std::min(static_cast<int64_t>(end), Of(request).num_keyed) *
      group_.block_tokens;
  CompleteRows(request, std::max(first, request->rows_done), keyed);
  if (worth_ != nullptr) {
    for (size_t i = begin; i < end; ++i) RaiseValue(*request, i);
  }
  pool_.ReleaseReversed(std::span(table).subspan(begin, end - begin));
  std::fill(table.begin() + static_cast<std::ptrdiff_t>(begin),
            table.begin() + static_cast<std::ptrdiff_t>(end), kNullBlock);
}

void GroupManager::RaiseValue(const RequestBlocks& request, size_t entry) {
  const auto end = static_cast<int64_t>(entry + 1) * group_.block_tokens;
  pool_.RaiseValue(Of(request).table[entry],
                   worth_->At(end, request.num_prompt, request.junction));
}

void GroupManager::RaiseValues(
    const RequestBlocks& request,
    const std::vector<BlockWorth::Segment>& segments) {
  const std::vector<BlockId>& table = Of(request).table;
  auto segment = segments.begin();
  int64_t end = 0;
  for (BlockId id : table) {
    end += group_.block_tokens;
    while (segment != segments.end() && segment->end < end) ++segment;
    if (id == kNullBlock) continue;
    pool_.RaiseValue(
        id, segment == segments.end() ? worth_->now() : segment->score);
  }
}

void GroupManager::Free(RequestBlocks* request) {
  GroupBlocks& blocks = Of(request);
  CompleteRows(request, request->rows_done,
               blocks.num_keyed * group_.block_tokens);
  if (!forked_ || blocks.table.empty() || Owners(blocks.table.back()) <= 1) {
    tail_slack_rows_ -= TailSlack(blocks);
  }
  pool_.ReleaseReversed(blocks.table);
  blocks.table.clear();
  blocks.num_keyed = blocks.slots_end = 0;
  blocks.partial_keyed = blocks.started = false;
  blocks.older.clear();
}

// --- host memory ------------------------------------------------------------------

// States stand where their group put them; encoder rows are there from the start.
size_t GroupManager::ComputedEntries(const RequestBlocks& request) const {
  const size_t size = Of(request).table.size();
  if (group_.kind == GroupKind::kRecurrent ||
      group_.kind == GroupKind::kCross) {
    return size;
  }
  return std::min(size, static_cast<size_t>(
                            CeilDiv(request.rows_done, group_.block_tokens)));
}

int64_t GroupManager::NumToSwap(const RequestBlocks& request) const {
  const std::vector<BlockId>& table = Of(request).table;
  const auto end =
      table.begin() + static_cast<std::ptrdiff_t>(ComputedEntries(request));
  return std::count_if(table.begin(), end,
                       [](BlockId id) { return id != kNullBlock; });
}

void GroupManager::SwapOut(RequestBlocks* request, HostPool* host,
                           std::vector<BlockSwap>* swaps) {
  GroupBlocks& blocks = Of(request);
  std::vector<BlockId> places;
  for (size_t i = 0; i < ComputedEntries(*request); ++i) {
    const BlockId id = blocks.table[i];
    places.push_back(id == kNullBlock ? kNotInHost : host->Take());
    if (id == kNullBlock) continue;
    swaps->push_back({static_cast<int>(index_), WrittenIn(id), places.back()});
  }
  const bool started = blocks.started;
  const std::vector<int64_t> older = blocks.older;
  Free(request);
  blocks.started = started;
  blocks.older = older;
  blocks.table.assign(places.size(), kNullBlock);
  blocks.host = std::move(places);
}

int64_t GroupManager::NumInHost(const RequestBlocks& request) const {
  const std::vector<BlockId>& host = Of(request).host;
  return std::count_if(host.begin(), host.end(),
                       [](BlockId id) { return id != kNotInHost; });
}

void GroupManager::SwapIn(RequestBlocks* request, HostPool* host,
                          std::vector<BlockSwap>* swaps) {
  GroupBlocks& blocks = Of(request);
  std::vector<BlockId> taken;
  pool_.Allocate(NumInHost(*request), &taken, static_cast<int>(index_));
  size_t next = 0;
  for (size_t i = 0; i < blocks.host.size(); ++i) {
    if (blocks.host[i] == kNotInHost) continue;
    blocks.table[i] = taken[next++];
    swaps->push_back(
        {static_cast<int>(index_), blocks.table[i], blocks.host[i]});
  }
  FreeHost(request, host);
  CompleteRows(request, 0, request->rows_done);
}

void GroupManager::FreeHost(RequestBlocks* request, HostPool* host) {
  std::vector<BlockId>& places = Of(request).host;
  for (const BlockId id : places) {
    if (id != kNotInHost) host->Release(id);
  }
  places.clear();
}

// --- forks ------------------------------------------------------------------------

int64_t GroupManager::Owners(BlockId id) const {
  const int64_t refs = pool_.RefCount(id);
  if (refs <= 1 || held_for_copies_.empty()) return refs;
  const auto held = held_for_copies_.find(id);
  return held == held_for_copies_.end() ? refs : refs - held->second;
}

void GroupManager::NoteCopy(const BlockCopy& copy) {
  ++held_for_copies_[copy.from];
  ++held_for_copies_[copy.to];
  copied_from_[copy.to] = copy.from;
}

// Swaps run before the step's copies do: what a copy will hold is still where it
// comes from.
BlockId GroupManager::WrittenIn(BlockId id) const {
  for (auto from = copied_from_.find(id); from != copied_from_.end();
       from = copied_from_.find(id)) {
    id = from->second;
  }
  return id;
}

// Only a block that is not full is written; encoder rows never after the first step.
bool GroupManager::WritesShared(const RequestBlocks& request,
                                int64_t computed) const {
  if (!forked_ || computed % group_.block_tokens == 0 ||
      group_.kind == GroupKind::kCross ||
      group_.kind == GroupKind::kRecurrent) {
    return false;
  }
  const std::vector<BlockId>& table = Of(request).table;
  const auto at = static_cast<size_t>(computed / group_.block_tokens);
  return at < table.size() && Owners(table[at]) > 1;
}

int64_t GroupManager::Fork(const RequestBlocks& parent, RequestBlocks* child,
                           std::vector<BlockCopy>*) {
  forked_ = true;
  GroupBlocks& blocks = Of(child);
  blocks = Of(parent);
  if (group_.kind != GroupKind::kCross) {
    const int64_t computed = CeilDiv(parent.rows_done, group_.block_tokens);
    blocks.table.resize(static_cast<size_t>(computed));
    blocks.slots_end =
        std::min(blocks.slots_end, computed * group_.block_tokens);
  }
  int64_t shared = 0;
  for (BlockId id : blocks.table) {
    if (id == kNullBlock) continue;
    pool_.Touch(id);
    ++shared;
  }
  return shared;
}

// --- rows and the ledger ----------------------------------------------------------

void GroupManager::CompleteRows(RequestBlocks* request, int64_t begin,
                                int64_t end) {
  if (group_.kind == GroupKind::kRecurrent) return;
  const std::vector<BlockId>& table = Of(request).table;
  if (group_.kind == GroupKind::kCross) {
    // The encoder runs before the first tokens do.
    if (begin >= end || pool_.Rows(table[0]) > 0) return;
    begin = 0;
    end = group_.encoder_tokens;
  }
  const int64_t rows = group_.block_tokens;
  auto entry = static_cast<size_t>(begin / rows);
  // The rest of a block, whole blocks, the start of another.
  while (begin < end) {
    const int64_t row = begin % rows;
    const bool whole = row == 0 && end - begin >= rows;
    const int64_t n = whole ? rows : std::min(rows - row, end - begin);
    const auto blocks = static_cast<size_t>(whole ? (end - begin) / rows : 1);
    pool_.AddRowsToEach(std::span(table).subspan(entry, blocks), n,
                        static_cast<int>(index_));
    entry += blocks;
    begin += static_cast<int64_t>(blocks) * n;
  }
}

// Rows that no owner of their block sees any more. Only a table's last few entries
// below its window's start can hold some; a shared block counts when it is such an
// entry of every owner.
int64_t GroupManager::WindowSlack(
    const std::vector<RequestBlocks*>& requests) const {
  int64_t slack = 0;
  std::vector<std::pair<BlockId, int64_t>> shared;
  for (const RequestBlocks* request : requests) {
    const std::vector<BlockId>& table = Of(*request).table;
    const int64_t start = SkippedTokens(request->rows_done);
    auto i = static_cast<size_t>(CeilDiv(start, group_.block_tokens));
    for (i = std::min(i, table.size()); i > 0; --i) {
      const BlockId id = table[i - 1];
      if (id == kNullBlock) break;
      const auto first = static_cast<int64_t>(i - 1) * group_.block_tokens;
      const int64_t rows = std::min(start - first, group_.block_tokens);
      if (pool_.RefCount(id) == 1) {
        slack += rows;
      } else {
        shared.emplace_back(id, rows);
      }
    }
  }
  std::sort(shared.begin(), shared.end());
  for (size_t i = 0; i < shared.size();) {
    size_t end = i;
    while (end < shared.size() && shared[end].first == shared[i].first) ++end;
    const auto owners = static_cast<int64_t>(end - i);
    if (owners == pool_.RefCount(shared[i].first)) slack += shared[i].second;
    i = end;
  }
  return slack;
}

void GroupManager::AddCommonAccounts(LedgerSnapshot* ledger) const {
  const BlockPool::GroupSums& sums = pool_.group(static_cast<int>(index_));
  const BlockGeometry& bytes = group_.geometry;
  (*ledger)[Account::kIdle] += group_.BlockBytes() * sums.idle;
  (*ledger)[Account::kSlotPadding] += bytes.slot_padding * sums.held;
  (*ledger)[Account::kPagePadding] += bytes.page_padding * sums.held;
  (*ledger)[OfWhich::kIdlePadding] +=
      (bytes.slot_padding + bytes.page_padding) * sums.idle;
}

void GroupManager::AddAccounts(const std::vector<RequestBlocks*>& requests,
                               LedgerSnapshot* ledger) const {
  AddCommonAccounts(ledger);
  const BlockPool::GroupSums& sums = pool_.group(static_cast<int>(index_));
  const int64_t row = group_.geometry.row_bytes;
  const int64_t capacity = sums.held * group_.block_tokens;
  const int64_t slack =
      group_.kind == GroupKind::kFull || group_.kind == GroupKind::kCross
          ? 0
          : WindowSlack(requests);
  (*ledger)[Account::kLive] += row * (sums.held_rows - slack);
  (*ledger)[Account::kWindowSlack] += row * slack;
  (*ledger)[Account::kTailSlack] += row * tail_slack_rows_;
  (*ledger)[Account::kInFlight] +=
      row * (capacity - sums.held_rows - tail_slack_rows_);
  (*ledger)[OfWhich::kSharedRows] += row * sums.shared_rows;
  (*ledger)[OfWhich::kSharingSaved] += row * sums.saved_rows;
}

}  // namespace kvsim::vllm
