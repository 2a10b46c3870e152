#include "engines/vllm/kv_cache_manager.h"

#include <algorithm>

#include "base/check.h"

namespace kvsim::vllm {
namespace {

Settings Normalize(const Settings& settings) {
  absl::StatusOr<Settings> normalized = settings.Normalized();
  KVSIM_CHECK(normalized.ok()) << normalized.status().message();
  return *std::move(normalized);
}

}  // namespace

KvCacheManager::KvCacheManager(const Settings& settings)
    : settings_(Normalize(settings)),
      one_full_group_(settings_.groups.size() == 1 &&
                      settings_.groups[0].kind == GroupKind::kFull),
      units_(settings_.Units()),
      block_bytes_(settings_.BlockBytes()),
      pool_(settings_.num_gpu_blocks, settings_.enable_prefix_caching,
            settings_.free_order, static_cast<int>(settings_.groups.size()),
            settings_.EvictsByValue() ? EvictionOrder::kByValue
                                      : EvictionOrder::kLeastRecentlyUsed),
      host_(settings_.host_blocks),
      lookup_(settings_.groups, units_, settings_.DropsLastHit(), pool_) {
  for (size_t g = 0; g < settings_.groups.size(); ++g) {
    groups_.push_back(GroupManager::Create(settings_, units_, g, &pool_));
  }
  if (settings_.EvictsByValue()) {
    worth_.emplace(settings_);
    for (const auto& group : groups_) group->ValueBlocksBy(&*worth_);
  }
  hit_.groups.resize(groups_.size());
}

// --- hits -------------------------------------------------------------------------

const PrefixHit& KvCacheManager::FindHit(const RequestBlocks& request,
                                         int64_t num_tokens) {
  if (remembered_id_ == request.id && remembered_tokens_ == num_tokens &&
      !pool_.WatchBroken()) {
    return hit_;
  }
  Forget();
  const int64_t limit = pool_.prefix_caching() ? num_tokens - 1 : 0;
  lookup_.Find(request.keys, limit, &hit_);
  if (!settings_.junctions) hit_.junction = 0;
  return hit_;
}

// A refused look-up stays right until a block it saw changes hands or a key it
// missed appears.
Refusal KvCacheManager::Refuse(const RequestBlocks& request, int64_t num_tokens,
                               int64_t need, Refusal refusal) {
  if (settings_.remember_refusal && remembered_id_ != request.id) {
    pool_.Watch(lookup_.seen_blocks(), lookup_.missed_keys());
    remembered_id_ = request.id;
    remembered_tokens_ = num_tokens;
  }
  return need >= GroupManager::kNotThisStep ? Refusal::kStateDeferral : refusal;
}

void KvCacheManager::Forget() {
  if (remembered_id_ == kNobody) return;
  pool_.Unwatch();
  remembered_id_ = kNobody;
}

// --- taking blocks ----------------------------------------------------------------

SlotRequest KvCacheManager::SlotsFor(int64_t computed, int64_t num_new,
                                     int64_t hit) const {
  const int64_t end = computed + num_new;
  return {.main_end = std::min(end, settings_.max_model_len),
          .slots_end = std::min(end + settings_.LookaheadTokens(),
                                settings_.max_model_len),
          .computed = computed,
          .hit = hit};
}

int64_t KvCacheManager::Need(const RequestBlocks& request,
                             const SlotRequest& slots,
                             const PrefixHit* hit) const {
  int64_t need = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    need += groups_[g]->Need(request, slots,
                             hit == nullptr ? nullptr : &hit->groups[g]);
  }
  return need;
}

Refusal KvCacheManager::Admit(RequestBlocks* request, int64_t num_tokens,
                              int64_t num_new, int64_t watermark) {
  reporter_.acting = request->owner;
  const int64_t room = pool_.num_free() - watermark;
  request->groups.resize(groups_.size());
  if (settings_.reserve_full_sequence) {
    const int64_t whole = std::min(num_tokens, settings_.max_model_len);
    const int64_t need = Need(*request,
                              {.main_end = whole,
                               .slots_end = whole,
                               .computed = hit_.tokens,
                               .hit = hit_.tokens,
                               .whole_prompt = true},
                              &hit_);
    if (need > room) {
      shortage_ = {need, room};
      return Refuse(*request, num_tokens, need, Refusal::kGate);
    }
  }
  const SlotRequest slots = SlotsFor(hit_.tokens, num_new, hit_.tokens);
  const int64_t need = Need(*request, slots, &hit_);
  if (need > room) {
    shortage_ = {need, room};
    return Refuse(*request, num_tokens, need, Refusal::kBlocks);
  }
  Forget();
  if (reporter_.listener != nullptr) {
    TellAdmitted(*request, num_tokens, need, room);
  }
  for (size_t g = 0; g < groups_.size(); ++g) {
    groups_[g]->TakeHit(request, hit_.groups[g], hit_.tokens);
  }
  request->rows_done = hit_.tokens;
  request->junction = hit_.junction;
  AddHolder(request);
  Take(request, slots, /*admitted=*/true);
  if (worth_.has_value()) worth_->Advance(num_new);
  CacheBlocks(request, std::min(hit_.tokens + num_new, num_tokens));
  return Refusal::kNone;
}

Refusal KvCacheManager::Extend(RequestBlocks* request, int64_t num_tokens,
                               int64_t num_computed, int64_t num_processed,
                               int64_t num_new) {
  reporter_.acting = request->owner;
  const SlotRequest slots = SlotsFor(num_computed, num_new, 0);
  const int64_t passed =
      settings_.free_on_processed ? num_processed : num_computed;
  if (!one_full_group_) {
    for (const auto& group : groups_) group->DropSkipped(request, passed);
  }
  const int64_t need = Need(*request, slots, nullptr);
  if (need > pool_.num_free()) {
    shortage_ = {need, pool_.num_free()};
    return Refusal::kBlocks;
  }
  Take(request, slots, /*admitted=*/false);
  if (worth_.has_value()) worth_->Advance(num_new);
  CacheBlocks(request, std::min(num_computed + num_new, num_tokens));
  return Refusal::kNone;
}

void KvCacheManager::Take(RequestBlocks* request, const SlotRequest& slots,
                          bool admitted) {
  const bool shares = fork_counts_.forks > 0 && !admitted;
  for (size_t g = 0; g < groups_.size() && (units_.fine_hits || shares); ++g) {
    BlockCopy copy;
    if (shares && groups_[g]->CopyShared(request, slots.computed, &copy)) {
      copies_.push_back(copy);
      ++fork_counts_.copies;
    }
    if (units_.fine_hits &&
        groups_[g]->CopyOnWrite(request, slots.computed, admitted, &copy)) {
      copies_.push_back(copy);
    }
  }
  for (const auto& group : groups_) group->Take(request, slots);
}

Refusal KvCacheManager::Fork(const RequestBlocks& parent,
                             RequestBlocks* child) {
  KVSIM_CHECK(parent.holder != RequestBlocks::kHoldsNothing &&
              child->holder == RequestBlocks::kHoldsNothing);
  int64_t need = 0;
  for (const auto& group : groups_) need += group->ForkNeed(parent);
  if (need > pool_.num_free()) return Refusal::kBlocks;
  reporter_.acting = child->owner;
  child->groups.resize(groups_.size());
  child->rows_done = parent.rows_done;
  child->junction = parent.junction;
  AddHolder(child);
  for (const auto& group : groups_) {
    fork_counts_.shared_blocks += group->Fork(parent, child, &copies_);
  }
  fork_counts_.copies += need;
  ++fork_counts_.forks;
  return Refusal::kNone;
}

void KvCacheManager::CacheBlocks(RequestBlocks* request, int64_t num_tokens) {
  if (!pool_.prefix_caching()) return;
  reporter_.acting = request->owner;
  const int64_t unit = units_.scheduler_tokens;
  for (const auto& group : groups_) {
    group->CacheBlocks(request, num_tokens / unit * unit, num_tokens);
  }
}

// --- explaining -------------------------------------------------------------------

void KvCacheManager::SetListener(CacheListener* listener) {
  reporter_.listener = listener;
  pool_.SetKeyListener(listener == nullptr ? nullptr : &reporter_);
}

void KvCacheManager::TellAdmitted(const RequestBlocks& request,
                                  int64_t num_tokens, int64_t need,
                                  int64_t room) {
  std::vector<int64_t> alone;
  if (pool_.prefix_caching()) {
    alone = lookup_.FindAlone(request.keys, num_tokens - 1);
  }
  reporter_.listener->OnAdmitted({.id = request.owner,
                                  .num_tokens = num_tokens,
                                  .hit_tokens = hit_.tokens,
                                  .junction = hit_.junction,
                                  .needed_blocks = need,
                                  .free_blocks = room,
                                  .group_tokens = alone});
}

// --- giving back ------------------------------------------------------------------

void KvCacheManager::CompleteRows(RequestBlocks* request, int64_t n) {
  const int64_t end = request->rows_done + n;
  for (const auto& group : groups_) {
    group->CompleteRows(request, request->rows_done, end);
  }
  request->rows_done = end;
}

void KvCacheManager::Free(RequestBlocks* request) {
  if (request->holder == RequestBlocks::kHoldsNothing) return;
  if (worth_.has_value()) RaiseValues(*request);
  for (const auto& group : groups_) group->Free(request);
  request->rows_done = 0;
  RemoveHolder(request);
}

void KvCacheManager::AddHolder(RequestBlocks* request) {
  request->holder = holders_.size();
  holders_.push_back(request);
}

void KvCacheManager::RemoveHolder(RequestBlocks* request) {
  holders_.back()->holder = request->holder;
  holders_[request->holder] = holders_.back();
  holders_.pop_back();
  request->holder = RequestBlocks::kHoldsNothing;
}

void KvCacheManager::RaiseValues(const RequestBlocks& request) {
  int64_t keyed = 0;
  for (const auto& group : groups_) {
    keyed = std::max(keyed, request.groups[group->index()].num_keyed *
                                group->group().block_tokens);
  }
  const std::vector<BlockWorth::Segment> segments =
      worth_->Segments(keyed, request.num_prompt, request.junction);
  for (const auto& group : groups_) group->RaiseValues(request, segments);
}

// --- host memory ------------------------------------------------------------------

bool KvCacheManager::SwapOut(RequestBlocks* request,
                             std::vector<BlockSwap>* swaps) {
  int64_t need = 0;
  for (const auto& group : groups_) {
    if (!one_full_group_) group->DropSkipped(request, request->rows_done);
    need += group->NumToSwap(*request);
  }
  if (need > host_.num_free()) return false;
  if (worth_.has_value()) RaiseValues(*request);
  for (const auto& group : groups_) group->SwapOut(request, &host_, swaps);
  RemoveHolder(request);
  return true;
}

Refusal KvCacheManager::SwapIn(RequestBlocks* request, int64_t num_tokens,
                               int64_t num_computed, int64_t num_new,
                               int64_t watermark,
                               std::vector<BlockSwap>* swaps) {
  reporter_.acting = request->owner;
  const SlotRequest slots = SlotsFor(num_computed, num_new, 0);
  int64_t need = Need(*request, slots, nullptr);
  for (const auto& group : groups_) need += group->NumInHost(*request);
  const int64_t room = pool_.num_free() - watermark;
  if (need > room) {
    shortage_ = {need, room};
    return Refusal::kBlocks;
  }
  for (const auto& group : groups_) group->SwapIn(request, &host_, swaps);
  AddHolder(request);
  Take(request, slots, /*admitted=*/false);
  if (worth_.has_value()) worth_->Advance(num_new);
  CacheBlocks(request, std::min(num_computed + num_new, num_tokens));
  return Refusal::kNone;
}

void KvCacheManager::FreeHost(RequestBlocks* request) {
  for (const auto& group : groups_) group->FreeHost(request, &host_);
}

void KvCacheManager::StartStep() {
  if (one_full_group_) return;
  for (const auto& group : groups_) group->StartStep();
}

void KvCacheManager::EndStep(std::vector<BlockCopy>* copies) {
  if (copies_.empty()) return;
  // One owner less of each, first copy first.
  std::vector<BlockId> ends;
  for (size_t i = copies_.size(); i-- > 0;) {
    if (worth_.has_value()) pool_.RaiseValue(copies_[i].from, worth_->now());
    ends.push_back(copies_[i].to);
    ends.push_back(copies_[i].from);
  }
  pool_.ReleaseReversed(ends);
  for (const auto& group : groups_) group->EndStep();
  copies->insert(copies->end(), copies_.begin(), copies_.end());
  copies_.clear();
}

// --- inspection -------------------------------------------------------------------

std::vector<int64_t> KvCacheManager::CommonPrefixBlocks(
    const RequestBlocks& request, int64_t num_holders) const {
  std::vector<int64_t> common(groups_.size(), 0);
  if (!pool_.prefix_caching() || request.groups.empty()) return common;
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (settings_.groups[g].kind != GroupKind::kFull) continue;
    for (BlockId id : request.groups[g].table) {
      if (pool_.RefCount(id) != num_holders) break;
      ++common[g];
    }
  }
  return common;
}

int64_t KvCacheManager::checkpoints() const {
  int64_t sum = 0;
  for (const auto& group : groups_) sum += group->checkpoints();
  return sum;
}

LedgerSnapshot KvCacheManager::Ledger() const {
  LedgerSnapshot ledger;
  const int64_t s = block_bytes_;
  ledger.pool_bytes =
      settings_.pool_bytes > 0 ? settings_.pool_bytes : s * pool_.num_blocks();
  ledger[Account::kRemainder] = ledger.pool_bytes - s * pool_.num_blocks();
  ledger[Account::kNull] = s;
  ledger[Account::kFree] = s * (pool_.num_free() - pool_.num_idle());
  ledger[OfWhich::kDuplicates] = s * pool_.num_duplicates();
  for (const auto& group : groups_) group->AddAccounts(holders_, &ledger);
  return ledger;
}

LedgerSnapshot KvCacheManager::GroupLedger(size_t group) const {
  KVSIM_CHECK(group < groups_.size());
  LedgerSnapshot ledger;
  groups_[group]->AddAccounts(holders_, &ledger);
  ledger.pool_bytes = ledger.Sum();
  return ledger;
}

}  // namespace kvsim::vllm
