#include "engines/vllm/naive_cache.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace kvsim::vllm {
namespace {

constexpr BlockId kNowhere = UINT32_MAX;

int64_t Ceiling(int64_t n, int64_t unit) { return (n + unit - 1) / unit; }

}  // namespace

NaiveCache::NaiveCache(const Settings& settings, NaiveMistake mistake)
    : settings_(*settings.Normalized()),
      mistake_(mistake),
      rules_(settings_),
      pool_(settings_) {
  for (int64_t i = 0; i < settings_.host_blocks; ++i) {
    host_.insert(static_cast<BlockId>(i));
  }
}

NaiveHit NaiveCache::Hit(const Holder& holder, int64_t known) const {
  return NaiveFind(rules_, pool_, holder.tokens, known,
                   mistake_ == NaiveMistake::kLastOfEqualsOnly);
}

// --- what a step needs ----------------------------------------------------------

NaiveCache::Asked NaiveCache::AskFor(int64_t computed, int64_t num_new) const {
  Asked asked;
  asked.computed = computed;
  asked.main_end = computed + num_new;
  asked.slots_end = std::min(asked.main_end + settings_.LookaheadTokens(),
                             settings_.max_model_len);
  return asked;
}

int64_t NaiveCache::BlocksFor(size_t g, const Asked& asked) const {
  const CacheGroup& group = Group(g);
  if (group.kind == GroupKind::kCross) {
    return Ceiling(group.encoder_tokens, group.block_tokens);
  }
  const int64_t drafts = settings_.num_speculative_tokens;
  if (group.kind != GroupKind::kRecurrent) {
    return Ceiling(asked.slots_end, group.block_tokens);
  }
  // In align mode lookahead slots would break the alignment.
  const int64_t end = rules_.Aligned(g) ? asked.main_end : asked.slots_end;
  return Ceiling(end, group.block_tokens) + drafts;
}

// What a window or chunk may hold at once.
int64_t NaiveCache::Cap(size_t g) const {
  const CacheGroup& group = Group(g);
  const int64_t in_flight = settings_.MaxTokensInFlight();
  const auto blocks = [&](int64_t reach) {
    return Ceiling(std::min(reach + in_flight, settings_.max_model_len),
                   group.block_tokens);
  };
  if (!settings_.window_admission_cap) return INT64_MAX;
  if (group.kind == GroupKind::kSlidingWindow) {
    return blocks(group.window - 1 + group.extra_window) + 1;
  }
  if (group.kind == GroupKind::kChunkedLocal) return blocks(group.chunk);
  return INT64_MAX;
}

std::optional<int64_t> NaiveCache::Need(const Holder& holder,
                                        const Asked& asked,
                                        const NaiveHit* hit) const {
  int64_t sum = 0;
  for (size_t g = 0; g < num_groups(); ++g) {
    const std::optional<int64_t> need = NeedOf(g, holder, asked, hit);
    if (!need.has_value()) return std::nullopt;
    sum += *need;
  }
  return sum;
}

std::optional<int64_t> NaiveCache::NeedOf(size_t g, const Holder& holder,
                                          const Asked& asked,
                                          const NaiveHit* hit) const {
  if (hit != nullptr && IsKeyedNow(g, holder, *hit)) return std::nullopt;
  if (rules_.Aligned(g)) return NeedStates(g, holder, asked, hit);
  int64_t required = BlocksFor(g, asked);
  if (asked.gate) required = std::min(required, Cap(g));
  if (hit == nullptr) {
    const auto held = static_cast<int64_t>(holder.tables[g].ids.size());
    return std::max<int64_t>(0, required - held) +
           static_cast<int64_t>(SharedPlaces(g, holder, asked.computed).size());
  }
  const int64_t skipped =
      rules_.Skipped(g, hit->tokens) / Group(g).block_tokens;
  const Ids& blocks = hit->groups[g];
  const auto num_hit = static_cast<int64_t>(blocks.size());
  int64_t need = std::max<int64_t>(0, required - std::max(skipped, num_hit));
  for (int64_t i = skipped; i < num_hit; ++i) {
    const BlockId id = blocks[static_cast<size_t>(i)];
    if (id != kNullBlock && pool_.Owners(id) == 0) ++need;
  }
  const bool part = num_hit > 0 && hit->tokens % Group(g).block_tokens != 0;
  return part ? need + 1 : need;  // its copy
}

int64_t NaiveCache::NeedStates(size_t g, const Holder& holder,
                               const Asked& asked, const NaiveHit* hit) const {
  const int64_t drafts = settings_.num_speculative_tokens;
  int64_t held = 0, need = 0;
  bool started = false, copies = false;
  if (hit == nullptr) {
    held = static_cast<int64_t>(holder.tables[g].ids.size());
    started = holder.tables[g].started;
    copies = ContinuesKeyedState(g, holder, asked.computed);
  } else {
    held = static_cast<int64_t>(hit->groups[g].size());
    copies = held > 0 && hit->tokens % Group(g).block_tokens != 0;
    for (BlockId id : hit->groups[g]) {
      if (id != kNullBlock && pool_.Owners(id) == 0) ++need;
    }
  }
  // A copy counts one block more and one new state, whether or not a new one is
  // taken.
  if (BlocksFor(g, asked) > held || copies) need += started ? 1 : 1 + drafts;
  return copies ? need + 1 : need;
}

// The state of the hit was keyed in this step: equal keys, not equal blocks.
bool NaiveCache::IsKeyedNow(size_t g, const Holder& holder,
                            const NaiveHit& hit) const {
  if (Group(g).kind != GroupKind::kRecurrent || hit.groups[g].empty() ||
      !settings_.same_step_state_guard) {
    return false;
  }
  const Tokens prefix(holder.tokens.begin(),
                      holder.tokens.begin() + hit.tokens);
  if (mistake_ == NaiveMistake::kGuardsBlocks) {
    return blocks_keyed_this_step_.contains(hit.groups[g].back());
  }
  return keyed_this_step_.contains({g, prefix});
}

// Its running state ends inside its block and is what others may hit.
bool NaiveCache::ContinuesKeyedState(size_t g, const Holder& holder,
                                     int64_t computed) const {
  const int64_t block = Group(g).block_tokens;
  if (computed % block == 0) return false;
  const auto place = static_cast<size_t>(computed / block);
  const Ids& ids = holder.tables[g].ids;
  return place < ids.size() && ids[place] != kNullBlock &&
         pool_.HasPartialKey(ids[place]);
}

// --- a step -----------------------------------------------------------------------

NaiveCache::Answer NaiveCache::Admit(Holder* holder, const NaiveHit& hit,
                                     int64_t known, int64_t num_new,
                                     int64_t room) {
  Asked asked = AskFor(hit.tokens, num_new);
  if (settings_.reserve_full_sequence) {
    Asked all{known, std::min(known, settings_.max_model_len), hit.tokens,
              true};
    const std::optional<int64_t> need = Need(*holder, all, &hit);
    if (!need.has_value()) return Answer::kStateDeferral;
    if (*need > room) return Answer::kGate;
  }
  const std::optional<int64_t> need = Need(*holder, asked, &hit);
  if (!need.has_value()) return Answer::kStateDeferral;
  if (*need > room) return Answer::kBlocks;
  TakeHit(holder, hit);
  for (size_t g = 0; g < num_groups(); ++g) CopyHitPart(g, holder, hit.tokens);
  for (size_t g = 0; g < num_groups(); ++g) TakeNew(g, holder, asked);
  scheduled_tokens_ += num_new;
  Key(holder, std::min(hit.tokens + num_new, known));
  return Answer::kFits;
}

NaiveCache::Answer NaiveCache::Extend(Holder* holder, int64_t known,
                                      int64_t computed, int64_t processed,
                                      int64_t num_new) {
  for (size_t g = 0; g < num_groups(); ++g) DropSkipped(g, holder, processed);
  const Asked asked = AskFor(computed, num_new);
  if (*Need(*holder, asked, nullptr) > pool_.NumFree()) return Answer::kBlocks;
  for (size_t g = 0; g < num_groups(); ++g) {
    CopyShared(g, holder, computed);
    if (rules_.Aligned(g)) CopyRunningState(g, holder, computed);
  }
  for (size_t g = 0; g < num_groups(); ++g) TakeNew(g, holder, asked);
  scheduled_tokens_ += num_new;
  Key(holder, std::min(computed + num_new, known));
  return Answer::kFits;
}

void NaiveCache::StartStep() {
  keyed_this_step_.clear();
  blocks_keyed_this_step_.clear();
}

void NaiveCache::EndStep(std::vector<BlockCopy>* copies) {
  // Open in what is told: one list or one call per copy.
  Ids ends;
  for (const BlockCopy& copy : copies_) {
    pool_.Raise(copy.from, 1000 * scheduled_tokens_);
    ends.push_back(copy.from);
    ends.push_back(copy.to);
  }
  if (mistake_ != NaiveMistake::kCopyIsNotHeld) pool_.Release(ends);
  copies->insert(copies->end(), copies_.begin(), copies_.end());
  copies_.clear();
}

// --- taking -----------------------------------------------------------------------

void NaiveCache::TakeHit(Holder* holder, const NaiveHit& hit) {
  holder->tables.assign(num_groups(), {});
  holder->num_written = hit.tokens;
  for (size_t g = 0; g < num_groups(); ++g) {
    const int64_t block = Group(g).block_tokens;
    Table& table = holder->tables[g];
    table.ids = hit.groups[g];
    const auto skipped =
        static_cast<size_t>(rules_.Skipped(g, hit.tokens) / block);
    for (size_t i = 0; i < table.ids.size(); ++i) {
      if (i < skipped) table.ids[i] = kNullBlock;
      if (table.ids[i] != kNullBlock) pool_.Touch(table.ids[i]);
    }
    if (skipped > table.ids.size()) table.ids.resize(skipped, kNullBlock);
    table.settled = hit.tokens / block;
  }
}

// What lies behind the end of a hit inside a block is the requester's own: it
// gets a copy, and the block it hit is held until the step's scheduling ends.
void NaiveCache::CopyHitPart(size_t g, Holder* holder, int64_t hit_tokens) {
  const int64_t block = Group(g).block_tokens;
  Ids& ids = holder->tables[g].ids;
  if (hit_tokens % block == 0 || ids.empty() || ids.back() == kNullBlock) {
    return;
  }
  const BlockId from = ids.back(), to = pool_.Pop(g);
  std::vector<bool>& rows = pool_.Rows(to);
  for (int64_t i = 0; i < hit_tokens % block; ++i) {
    rows[static_cast<size_t>(i)] = true;
  }
  pool_.Touch(to);
  ids.back() = to;
  if (mistake_ == NaiveMistake::kCopyIsNotHeld) pool_.Release({from, to});
  copies_.push_back({static_cast<int>(g), from, to});
}

// The copy keeps the key; the request goes on in its own block.
void NaiveCache::CopyRunningState(size_t g, Holder* holder, int64_t computed) {
  if (!ContinuesKeyedState(g, *holder, computed)) return;
  const auto place = static_cast<size_t>(computed / Group(g).block_tokens);
  const BlockId from = holder->tables[g].ids[place], to = pool_.Pop(g);
  if (mistake_ != NaiveMistake::kKeyStaysWithSource) pool_.MoveKeys(from, to);
  pool_.Touch(from);
  if (mistake_ == NaiveMistake::kCopyIsNotHeld) pool_.Release({from, to});
  copies_.push_back({static_cast<int>(g), from, to});
}

void NaiveCache::TakeNew(size_t g, Holder* holder, const Asked& asked) {
  Table& table = holder->tables[g];
  table.slots_end = Group(g).kind == GroupKind::kCross ? Group(g).encoder_tokens
                                                       : asked.slots_end;
  if (rules_.Aligned(g)) return TakeStates(g, &table, asked);
  while (static_cast<int64_t>(table.ids.size()) < BlocksFor(g, asked)) {
    table.ids.push_back(pool_.Pop(g));
  }
}

// The running state stands at the end with the drafts' states behind it; these
// are used again wherever the end moves to.
void NaiveCache::TakeStates(size_t g, Table* table, const Asked& asked) {
  const int64_t drafts = settings_.num_speculative_tokens;
  const auto before = static_cast<int64_t>(table->ids.size());
  const int64_t required = BlocksFor(g, asked);
  if (required <= before) return;
  // The engine of that date remembers the last one only; of those before it
  // what is still there stays until the request ends.
  if (!settings_.frees_every_old_state) table->older.clear();
  if (table->started) {
    table->older.push_back(before - 1 - drafts);
  } else if (before > 0) {
    table->older.push_back(before - 1);  // the state that was hit
  }
  const auto running = static_cast<size_t>(required - drafts - 1);
  if (table->ids.size() < running) table->ids.resize(running, kNullBlock);
  for (int64_t i = before - drafts; table->started && i < before; ++i) {
    if (i >= static_cast<int64_t>(running)) break;
    table->ids.push_back(table->ids[static_cast<size_t>(i)]);
    table->ids[static_cast<size_t>(i)] = kNullBlock;
  }
  while (static_cast<int64_t>(table->ids.size()) < required) {
    table->ids.push_back(pool_.Pop(g));
  }
  table->started = true;
}

// --- forks ---------------------------------------------------------------------------

// What copies hold until the step's scheduling ends is no owner's.
bool NaiveCache::IsOthersToo(BlockId id) const {
  int64_t owners = pool_.Owners(id);
  if (mistake_ == NaiveMistake::kLastOwnerCopies) return owners > 1;
  for (const BlockCopy& copy : copies_) {
    if (copy.from == id) --owners;
    if (copy.to == id) --owners;
  }
  return owners > 1;
}

// Encoder rows are never written again, states were copied at the fork.
std::vector<size_t> NaiveCache::SharedPlaces(size_t g, const Holder& holder,
                                             int64_t computed) const {
  std::vector<size_t> places;
  if (Group(g).kind == GroupKind::kCross ||
      Group(g).kind == GroupKind::kRecurrent ||
      mistake_ == NaiveMistake::kWritesSharedTail) {
    return places;
  }
  const Ids& ids = holder.tables[g].ids;
  auto place = static_cast<size_t>(computed / Group(g).block_tokens);
  for (; place < ids.size(); ++place) {
    if (ids[place] != kNullBlock && IsOthersToo(ids[place])) {
      places.push_back(place);
    }
  }
  return places;
}

void NaiveCache::CopyShared(size_t g, Holder* holder, int64_t computed) {
  for (size_t place : SharedPlaces(g, *holder, computed)) {
    BlockId& id = holder->tables[g].ids[place];
    const BlockId from = id, to = pool_.Pop(g);
    pool_.Rows(to) = pool_.Rows(from);
    pool_.Touch(to);
    id = to;
    if (mistake_ == NaiveMistake::kCopyIsNotHeld) pool_.Release({from, to});
    copies_.push_back({static_cast<int>(g), from, to});
    ++fork_counts_.copies;
  }
}

// A state is final once its block of tokens is; what stands at the block of the
// next token or behind it is still written.
std::vector<size_t> NaiveCache::OwnStates(size_t g,
                                          const Holder& holder) const {
  std::vector<size_t> places;
  const Ids& ids = holder.tables[g].ids;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto end = static_cast<int64_t>(i + 1) * Group(g).block_tokens;
    if (ids[i] != kNullBlock && end > holder.num_written) places.push_back(i);
  }
  return places;
}

bool NaiveCache::Fork(const Holder& parent, Holder* child) {
  size_t need = 0;
  for (size_t g = 0; g < num_groups(); ++g) {
    if (Group(g).kind != GroupKind::kRecurrent) continue;
    need += OwnStates(g, parent).size();
  }
  if (static_cast<int64_t>(need) > pool_.NumFree()) return false;
  child->junction = parent.junction;
  child->num_written = parent.num_written;
  child->tables.resize(num_groups());
  for (size_t g = 0; g < num_groups(); ++g) ForkTable(g, parent, child);
  ++fork_counts_.forks;
  return true;
}

void NaiveCache::ForkTable(size_t g, const Holder& parent, Holder* child) {
  const CacheGroup& group = Group(g);
  Table& table = child->tables[g];
  table = parent.tables[g];
  std::vector<size_t> own;
  if (group.kind == GroupKind::kRecurrent) {
    own = OwnStates(g, parent);
    if (mistake_ == NaiveMistake::kForksShareStates) own.clear();
  } else if (group.kind != GroupKind::kCross) {
    // Slots behind the last row are the parent's.
    while (static_cast<int64_t>(table.ids.size() - 1) * group.block_tokens >=
           parent.num_written) {
      table.ids.pop_back();
    }
    const auto end =
        static_cast<int64_t>(table.ids.size()) * group.block_tokens;
    table.slots_end = std::min(table.slots_end, end);
  }
  for (size_t i = 0; i < table.ids.size(); ++i) {
    BlockId& id = table.ids[i];
    if (id == kNullBlock) continue;
    pool_.Touch(id);
    if (std::find(own.begin(), own.end(), i) == own.end()) {
      ++fork_counts_.shared_blocks;
      continue;
    }
    const BlockId from = id;
    id = pool_.Pop(g);
    pool_.Touch(id);
    copies_.push_back({static_cast<int>(g), from, id});
    ++fork_counts_.copies;
  }
}

// --- giving back --------------------------------------------------------------------

// From the end of what is skipped down to the first entry that is null.
void NaiveCache::DropSkipped(size_t g, Holder* holder, int64_t processed) {
  const int64_t block = Group(g).block_tokens;
  Table& table = holder->tables[g];
  const auto size = static_cast<int64_t>(table.ids.size());
  int64_t skipped = std::min(rules_.Skipped(g, processed) / block, size);
  if (mistake_ == NaiveMistake::kDropsOneTooMany && skipped > 0) {
    skipped = std::min(skipped + 1, size);
  }
  WriteKeyed(g, holder, skipped);
  Ids dropped;
  for (int64_t i = skipped - 1; i >= 0; --i) {
    BlockId& id = table.ids[static_cast<size_t>(i)];
    if (id == kNullBlock) break;
    RaiseOne(*holder, (i + 1) * block, id);
    dropped.push_back(id);
    id = kNullBlock;
  }
  pool_.Release(dropped);
  if (rules_.Aligned(g)) {
    DropOlderStates(g, holder, Ceiling(processed, block) - 1);
  }
}

void NaiveCache::DropOlderStates(size_t g, Holder* holder, int64_t running) {
  Table* const table = &holder->tables[g];
  std::vector<int64_t>& older = table->older;
  for (int64_t place : older) {
    if (place >= running) continue;
    BlockId& id = table->ids[static_cast<size_t>(place)];
    RaiseOne(*holder, (place + 1) * Group(g).block_tokens, id);
    pool_.Release({id});
    id = kNullBlock;
  }
  std::erase_if(older, [running](int64_t place) { return place < running; });
}

void NaiveCache::RaiseOne(const Holder& holder, int64_t end, BlockId id) {
  if (!settings_.EvictsByValue() || id == kNullBlock) return;
  pool_.Raise(id, 1000 * scheduled_tokens_ +
                      rules_.Worth(end, holder.num_prompt, holder.junction));
}

// What lies at a boundary is worth at least what lies at any deeper one that this
// request reached.
void NaiveCache::RaiseAll(const Holder& holder) {
  if (!settings_.EvictsByValue()) return;
  int64_t reached = 0;
  for (size_t g = 0; g < holder.tables.size(); ++g) {
    reached =
        std::max(reached, holder.tables[g].settled * Group(g).block_tokens);
  }
  std::vector<std::pair<int64_t, int64_t>> ends;  // and what they are worth
  for (int64_t b = rules_.scheduler_unit; b <= reached;
       b += rules_.scheduler_unit) {
    if (!rules_.EndsSegment(b, holder.num_prompt, holder.junction)) continue;
    ends.emplace_back(b, rules_.Worth(b, holder.num_prompt, holder.junction));
  }
  for (size_t g = 0; g < holder.tables.size(); ++g) {
    const Ids& ids = holder.tables[g].ids;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] == kNullBlock) continue;
      const auto end = static_cast<int64_t>(i + 1) * Group(g).block_tokens;
      int64_t most = 0;
      for (const auto& [b, worth] : ends) {
        if (b >= end) most = std::max(most, worth);
      }
      pool_.Raise(ids[i], 1000 * scheduled_tokens_ + most);
    }
  }
}

void NaiveCache::Free(Holder* holder) {
  RaiseAll(*holder);
  for (size_t g = 0; g < holder->tables.size(); ++g) {
    const Table& table = holder->tables[g];
    WriteKeyed(g, holder, static_cast<int64_t>(table.ids.size()));
    pool_.Release({table.ids.rbegin(), table.ids.rend()});
  }
  holder->tables.clear();
  holder->num_written = 0;
}

// --- host memory ----------------------------------------------------------------------

// The part of a table that there is something in: device blocks, or nowhere.
NaiveCache::Table NaiveCache::HostTable(size_t g, const Holder& holder) const {
  Table table = holder.tables[g];
  table.slots_end = table.settled = 0;
  table.partial_settled = false;
  const int64_t block = Group(g).block_tokens;
  const bool rows = Group(g).kind != GroupKind::kRecurrent &&
                    Group(g).kind != GroupKind::kCross;
  const int64_t written = mistake_ == NaiveMistake::kLosesSwappedTail
                              ? holder.num_written / block * block
                              : holder.num_written;
  while (rows &&
         static_cast<int64_t>(table.ids.size()) * block >= written + block) {
    table.ids.pop_back();
  }
  for (BlockId& id : table.ids) {
    if (id == kNullBlock) id = kNowhere;
  }
  return table;
}

// Swaps run before the step's copies do: what a copy will hold is still where it
// comes from.
BlockId NaiveCache::WrittenIn(BlockId id) const {
  for (const BlockCopy& copy : copies_) {
    if (copy.to == id) return WrittenIn(copy.from);
  }
  return id;
}

std::optional<std::vector<BlockSwap>> NaiveCache::SwapOut(Holder* holder) {
  std::vector<Table> hosted;
  std::vector<BlockSwap> swaps;
  for (size_t g = 0; g < num_groups(); ++g) {
    DropSkipped(g, holder, holder->num_written);
    hosted.push_back(HostTable(g, *holder));
    for (BlockId id : hosted.back().ids) {
      if (id == kNowhere) continue;
      swaps.push_back({static_cast<int>(g), WrittenIn(id), 0});
    }
  }
  if (swaps.size() > host_.size()) return std::nullopt;
  size_t next = 0;
  for (Table& table : hosted) {
    for (BlockId& id : table.ids) {
      if (id == kNowhere) continue;
      id = swaps[next++].host = *host_.begin();
      host_.erase(host_.begin());
    }
  }
  const int64_t written = holder->num_written;
  Free(holder);
  holder->num_written = written;
  holder->hosted = hosted;
  return swaps;
}

std::optional<std::vector<BlockSwap>> NaiveCache::SwapIn(Holder* holder,
                                                         int64_t known,
                                                         int64_t computed,
                                                         int64_t num_new,
                                                         int64_t room) {
  // What is needed is that of the same tables with nothing in them, and the blocks.
  Holder empty = *holder;
  empty.tables = holder->hosted;
  int64_t need = 0;
  for (Table& table : empty.tables) {
    for (BlockId& id : table.ids) {
      if (id != kNowhere) ++need;
      id = kNullBlock;
    }
  }
  const Asked asked = AskFor(computed, num_new);
  need += *Need(empty, asked, nullptr);
  if (need > room) return std::nullopt;
  holder->tables = empty.tables;
  std::vector<BlockSwap> swaps;
  for (size_t g = 0; g < num_groups(); ++g) {
    for (size_t i = 0; i < holder->hosted[g].ids.size(); ++i) {
      const BlockId from = holder->hosted[g].ids[i];
      if (from == kNowhere) continue;
      const BlockId to = pool_.Pop(g);
      holder->tables[g].ids[i] = to;
      swaps.push_back({static_cast<int>(g), to, from});
    }
  }
  FreeHost(holder);
  const int64_t written = holder->num_written;
  holder->num_written = 0;
  Write(holder, written);
  for (size_t g = 0; g < num_groups(); ++g) TakeNew(g, holder, asked);
  scheduled_tokens_ += num_new;
  Key(holder, std::min(computed + num_new, known));
  return swaps;
}

void NaiveCache::FreeHost(Holder* holder) {
  for (const Table& table : holder->hosted) {
    for (BlockId id : table.ids) {
      if (id != kNowhere) host_.insert(id);
    }
  }
  holder->hosted.clear();
}

// --- keys -----------------------------------------------------------------------------

void NaiveCache::Key(Holder* holder, int64_t known) {
  if (!settings_.enable_prefix_caching) return;
  for (size_t g = 0; g < num_groups(); ++g) {
    if (Group(g).kind == GroupKind::kCross) continue;
    KeyBlocks(g, holder, known);
    KeyPart(g, holder, known);
  }
}

void NaiveCache::KeyBlocks(size_t g, Holder* holder, int64_t known) {
  const int64_t block = Group(g).block_tokens;
  Table& table = holder->tables[g];
  const int64_t end = rules_.KeyedTokens(g, known) / block;
  for (; table.settled < end; ++table.settled) {
    const BlockId id = table.ids[static_cast<size_t>(table.settled)];
    if (id == kNullBlock ||
        !rules_.Keeps(g, table.settled, holder->num_prompt, holder->junction)) {
      continue;
    }
    AddKey(g, *holder, (table.settled + 1) * block, id);
  }
}

// The prompt's last unit inside a block: of full attention always, of a state
// where hits are fine and it ends there.
void NaiveCache::KeyPart(size_t g, Holder* holder, int64_t known) {
  const bool full = Group(g).kind == GroupKind::kFull;
  const bool state = rules_.Aligned(g) && rules_.fine;
  const int64_t block = Group(g).block_tokens;
  const int64_t end = holder->num_prompt / rules_.hash_unit * rules_.hash_unit;
  Table& table = holder->tables[g];
  if (!settings_.partial_hits || (!full && !state)) return;
  const bool at_end =
      !settings_.checkpoints.has_value() || settings_.checkpoints->prompt_end;
  if (state && !at_end) return;
  if (end % block == 0 || table.partial_settled) return;
  // Open in what is told: whether a block that got its full key in the same
  // step, or before, gets the partial one too. Here it does not.
  if (full && end / block < table.settled) return;
  if (known < end || (state && known != end)) return;
  const BlockId id = table.ids[static_cast<size_t>(end / block)];
  if (id == kNullBlock) return;
  table.partial_settled = true;
  AddKey(g, *holder, end, id);
}

void NaiveCache::AddKey(size_t g, const Holder& holder, int64_t end,
                        BlockId id) {
  const Tokens prefix(holder.tokens.begin(), holder.tokens.begin() + end);
  if (!pool_.AddKey(id, {g, prefix})) return;  // a fork has given it the key
  if (Group(g).kind == GroupKind::kRecurrent) {
    keyed_this_step_.insert({g, prefix});
    blocks_keyed_this_step_.insert(id);
    ++checkpoints_;
  }
}

// What others may hit is written before they can read it, for batches run in
// order: rows in flight of blocks that are given back count as written.
void NaiveCache::WriteKeyed(size_t g, Holder* holder, int64_t num_blocks) {
  const int64_t block = Group(g).block_tokens;
  for (int64_t i = 0; i < num_blocks; ++i) {
    const BlockId id = holder->tables[g].ids[static_cast<size_t>(i)];
    if (id == kNullBlock) continue;
    for (int64_t row = 0; row < pool_.KeyedRows(id); ++row) {
      if (i * block + row < holder->num_written) continue;
      pool_.Rows(id)[static_cast<size_t>(row)] = true;
    }
  }
}

// The encoder runs before the first tokens do.
void NaiveCache::WriteEncoded(Holder* holder) {
  for (size_t g = 0; g < num_groups(); ++g) {
    if (Group(g).kind != GroupKind::kCross) continue;
    const int64_t block = Group(g).block_tokens;
    for (int64_t i = 0; i < Group(g).encoder_tokens; ++i) {
      const BlockId id = holder->tables[g].ids[static_cast<size_t>(i / block)];
      pool_.Rows(id)[static_cast<size_t>(i % block)] = true;
    }
  }
}

void NaiveCache::Write(Holder* holder, int64_t num_tokens) {
  if (num_tokens > 0) WriteEncoded(holder);
  for (; num_tokens > 0; --num_tokens, ++holder->num_written) {
    for (size_t g = 0; g < num_groups(); ++g) {
      const auto block = static_cast<size_t>(Group(g).block_tokens);
      const auto position = static_cast<size_t>(holder->num_written);
      const Ids& ids = holder->tables[g].ids;
      if (Group(g).kind == GroupKind::kRecurrent ||
          Group(g).kind == GroupKind::kCross ||
          position / block >= ids.size() ||
          ids[position / block] == kNullBlock) {
        continue;
      }
      pool_.Rows(ids[position / block])[position % block] = true;
    }
  }
}

}  // namespace kvsim::vllm
