#include "engines/vllm/kv_cache_manager.h"

#include <algorithm>

namespace kvsim::vllm {

KvCacheManager::KvCacheManager(const Settings& settings)
    : block_size_(settings.block_size),
      max_model_len_(settings.max_model_len),
      lookahead_(settings.LookaheadTokens()),
      drops_last_hit_(settings.DropsLastHit()),
      reserve_full_sequence_(settings.reserve_full_sequence),
      remember_refusal_(settings.remember_refusal),
      geometry_(settings.geometry),
      block_bytes_(settings.BlockBytes()),
      pool_(settings.num_gpu_blocks, settings.enable_prefix_caching,
            settings.free_order) {}

const PrefixHit& KvCacheManager::FindHit(const RequestBlocks& request,
                                         int64_t num_tokens) {
  if (remembered_id_ == request.id && remembered_tokens_ == num_tokens &&
      !pool_.WatchBroken()) {
    return hit_;
  }
  Forget();
  hit_.blocks.clear();
  hit_.unheld = 0;
  run_ = 0;
  dropped_ = kNullBlock;
  if (!pool_.prefix_caching()) return hit_;
  const int64_t limit = (num_tokens - 1) / block_size_;
  const std::span<const uint64_t> keys = request.keys->Prefix(limit);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i + 8 < keys.size()) pool_.PrefetchKey(keys[i + 8]);
    const BlockId id = pool_.Find(keys[i]);
    if (id == kNullBlock) break;
    hit_.blocks.push_back(id);
    if (pool_.RefCount(id) == 0) ++hit_.unheld;
  }
  run_ = static_cast<int64_t>(hit_.blocks.size());
  if (drops_last_hit_ && run_ > 0) {
    dropped_ = hit_.blocks.back();
    if (pool_.RefCount(dropped_) == 0) --hit_.unheld;
    hit_.blocks.pop_back();
  }
  return hit_;
}

// The refused look-up stays right until a block of its run changes hands or the
// key it missed appears.
void KvCacheManager::Remember(const RequestBlocks& request,
                              int64_t num_tokens) {
  if (!remember_refusal_ || remembered_id_ == request.id) return;
  const int64_t limit = (num_tokens - 1) / block_size_;
  const bool missed = pool_.prefix_caching() && run_ < limit;
  const uint64_t miss_key =
      missed ? request.keys->Prefix(run_ + 1)[static_cast<size_t>(run_)] : 0;
  if (dropped_ != kNullBlock) hit_.blocks.push_back(dropped_);
  pool_.Watch(hit_.blocks, missed, miss_key);
  if (dropped_ != kNullBlock) hit_.blocks.pop_back();
  remembered_id_ = request.id;
  remembered_tokens_ = num_tokens;
}

void KvCacheManager::Forget() {
  if (remembered_id_ == kNobody) return;
  pool_.Unwatch();
  remembered_id_ = kNobody;
}

Refusal KvCacheManager::Admit(RequestBlocks* request, int64_t num_tokens,
                              int64_t num_new, int64_t watermark) {
  const int64_t hits = static_cast<int64_t>(hit_.blocks.size());
  const int64_t room = pool_.num_free() - watermark;
  const int64_t whole = BlocksFor(std::min(num_tokens, max_model_len_));
  if (reserve_full_sequence_ && whole - hits + hit_.unheld > room) {
    Remember(*request, num_tokens);
    return Refusal::kGate;
  }
  const int64_t hit_tokens = hits * block_size_;
  const int64_t slots_end =
      std::min(hit_tokens + num_new + lookahead_, max_model_len_);
  if (BlocksFor(slots_end) - hits + hit_.unheld > room) {
    Remember(*request, num_tokens);
    return Refusal::kBlocks;
  }
  Forget();
  for (BlockId id : hit_.blocks) pool_.Touch(id);
  request->table.assign(hit_.blocks.begin(), hit_.blocks.end());
  request->num_keyed = hits;
  request->rows_done = hit_tokens;
  TakeSlots(request, slots_end);
  CacheBlocks(request, std::min(hit_tokens + num_new, num_tokens));
  return Refusal::kNone;
}

Refusal KvCacheManager::Extend(RequestBlocks* request, int64_t num_tokens,
                               int64_t num_computed, int64_t num_new) {
  const int64_t slots_end =
      std::min(num_computed + num_new + lookahead_, max_model_len_);
  const int64_t held = static_cast<int64_t>(request->table.size());
  if (BlocksFor(slots_end) - held > pool_.num_free()) return Refusal::kBlocks;
  TakeSlots(request, slots_end);
  CacheBlocks(request, std::min(num_computed + num_new, num_tokens));
  return Refusal::kNone;
}

void KvCacheManager::TakeSlots(RequestBlocks* request, int64_t slots_end) {
  const int64_t held = static_cast<int64_t>(request->table.size());
  const int64_t missing = BlocksFor(slots_end) - held;
  if (request->slots_end > 0) {
    tail_slack_rows_ -= (held * block_size_) - request->slots_end;
  }
  if (missing > 0) pool_.Allocate(missing, &request->table);
  request->slots_end = slots_end;
  tail_slack_rows_ +=
      static_cast<int64_t>(request->table.size()) * block_size_ - slots_end;
}

void KvCacheManager::CacheBlocks(RequestBlocks* request, int64_t num_tokens) {
  if (!pool_.prefix_caching()) return;
  const int64_t full = num_tokens / block_size_;
  if (full <= request->num_keyed) return;
  const size_t from = static_cast<size_t>(request->num_keyed);
  const size_t count = static_cast<size_t>(full) - from;
  pool_.AssignKeys(std::span(request->table).subspan(from, count),
                   request->keys->Prefix(full).subspan(from, count));
  request->num_keyed = full;
}

void KvCacheManager::CompleteRows(RequestBlocks* request, int64_t n) {
  int64_t at = request->rows_done;
  const int64_t end = at + n;
  while (at < end) {
    const int64_t block = at / block_size_;
    const int64_t stop = std::min(end, (block + 1) * block_size_);
    pool_.AddRows(request->table[static_cast<size_t>(block)], stop - at);
    at = stop;
  }
  request->rows_done = end;
}

void KvCacheManager::Free(RequestBlocks* request) {
  CompleteRows(request, std::max<int64_t>(0, request->num_keyed * block_size_ -
                                                 request->rows_done));
  tail_slack_rows_ -=
      static_cast<int64_t>(request->table.size()) * block_size_ -
      request->slots_end;
  pool_.ReleaseReversed(request->table);
  request->table.clear();
  request->num_keyed = request->slots_end = request->rows_done = 0;
}

int64_t KvCacheManager::CommonPrefixBlocks(const RequestBlocks& request,
                                           int64_t num_holders) const {
  if (!pool_.prefix_caching()) return 0;
  int64_t n = 0;
  for (BlockId id : request.table) {
    if (pool_.RefCount(id) != num_holders) break;
    ++n;
  }
  return n;
}

LedgerSnapshot KvCacheManager::Ledger() const {
  LedgerSnapshot ledger;
  const int64_t s = block_bytes_, row = geometry_.row_bytes;
  const int64_t held = pool_.num_held();
  const int64_t live = pool_.held_rows();
  ledger.pool_bytes =
      geometry_.pool_bytes > 0 ? geometry_.pool_bytes : s * pool_.num_blocks();
  ledger[Account::kRemainder] = ledger.pool_bytes - s * pool_.num_blocks();
  ledger[Account::kNull] = s;
  ledger[Account::kIdle] = s * pool_.num_idle();
  ledger[Account::kFree] = s * (pool_.num_free() - pool_.num_idle());
  ledger[Account::kSlotPadding] = geometry_.slot_padding * held;
  ledger[Account::kPagePadding] = geometry_.page_padding * held;
  ledger[Account::kLive] = row * live;
  ledger[Account::kTailSlack] = row * tail_slack_rows_;
  ledger[Account::kInFlight] =
      row * (held * block_size_ - live - tail_slack_rows_);
  ledger[OfWhich::kDuplicates] =
      s * (pool_.num_keyed_blocks() - pool_.num_keys());
  ledger[OfWhich::kSharedRows] = row * pool_.shared_rows();
  ledger[OfWhich::kSharingSaved] = row * pool_.saved_rows();
  ledger[OfWhich::kIdlePadding] =
      (geometry_.slot_padding + geometry_.page_padding) * pool_.num_idle();
  return ledger;
}

}  // namespace kvsim::vllm
