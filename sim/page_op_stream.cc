#include "sim/page_op_stream.h"

#include <algorithm>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/mix.h"
#include "sim/batch_shape.h"
#include "traces/request_keys.h"
#include "traces/request_tokens.h"

namespace kvsim {
namespace {

constexpr uint64_t kStateSalt = 0xb7e151628aed2a6b;
constexpr uint64_t kEncoderSalt = 0x13198a2e03707344;
constexpr uint64_t kRejectedSalt = 0x6a09e667f3bcc909;

Stamp InGroup(uint64_t what, size_t group) {
  return Mix(what + 0x9e3779b97f4a7c15 * (group + 1));
}

PoolIndex PoolOf(size_t group) { return static_cast<PoolIndex>(group); }

using Table = std::vector<BlockId>;

bool Contains(const Table& table, BlockId block) {
  return std::find(table.begin(), table.end(), block) != table.end();
}

// Where two tables differ: what only the old one has, and entries of the new one
// that the old one lacks. Blocks may have moved to other entries.
struct TableChange {
  Table gone;
  std::vector<size_t> come;
};

TableChange ChangeOf(const Table& before, std::span<const BlockId> after) {
  TableChange change;
  Table gone, come;
  std::vector<size_t> entries;
  for (size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
    const BlockId old = i < before.size() ? before[i] : kNullBlock;
    const BlockId now = i < after.size() ? after[i] : kNullBlock;
    if (old == now) continue;
    if (old != kNullBlock) gone.push_back(old);
    if (now != kNullBlock) {
      come.push_back(now);
      entries.push_back(i);
    }
  }
  for (const BlockId block : gone) {
    if (!Contains(come, block)) change.gone.push_back(block);
  }
  for (size_t i = 0; i < come.size(); ++i) {
    if (!Contains(gone, come[i])) change.come.push_back(entries[i]);
  }
  return change;
}

// Leading tokens of a request's table that a hit of this step filled.
int64_t HitTokens(const StepPlan& plan, RequestId id) {
  for (const auto* admissions : {&plan.admitted, &plan.resumed}) {
    for (const AdmittedRequest& admitted : *admissions) {
      if (admitted.id == id) return admitted.hit_tokens;
    }
  }
  return 0;
}

// Whether this step's copies fill the block.
bool IsCopied(const StepPlan& plan, BlockId block) {
  return std::any_of(
      plan.copies.begin(), plan.copies.end(),
      [block](const BlockCopy& copy) { return copy.to == block; });
}

// Blocks that came to a table, its own and those it shares.
class NewBlocks {
 public:
  NewBlocks(PoolIndex pool, SequenceId sequence)
      : own_{.pool = pool, .sequence = sequence},
        shared_{.pool = pool, .sequence = sequence, .shared = true} {}

  void Add(BlockId block, bool shared) {
    (shared ? shared_ : own_).blocks.push_back(block);
  }
  void Emit(std::vector<PageOp>* own, std::vector<PageOp>* shared) {
    if (!own_.blocks.empty()) own->push_back(std::move(own_));
    if (!shared_.blocks.empty()) shared->push_back(std::move(shared_));
  }

 private:
  AssignBlocks own_, shared_;
};

}  // namespace

// Where a recurrent group's state of a sequence stands.
struct StatePlace {
  std::optional<BlockId> block;  // nothing: no token is computed
  std::optional<BlockId> host;   // while the sequence is swapped out
  // States of this step's drafts, the main one first, and the position of that one.
  Table written;
  int64_t main_end = 0;
};

struct PageOpStream::Sequence {
  Sequence(RequestId id, const RequestTokens& tokens, size_t groups)
      : id(id),
        tokens(tokens),
        tables(groups),
        states(groups),
        encoder(Mix(kEncoderSalt + static_cast<uint64_t>(id))) {
    keys.emplace(&this->tokens, 1);
  }

  RequestId id;
  RequestTokens tokens;
  std::optional<RequestKeys> keys;  // of every prefix
  std::vector<Table> tables;        // as the last batch saw them, by group
  std::vector<StatePlace> states;
  int64_t rows = 0;  // leading tokens whose rows stand, or stood, in the pool
  int64_t read_from = 0;  // tokens decoded since windows were read last
  // Of this step: a block may be hit by one request of a batch while another one of
  // it, earlier in line, writes it.
  std::vector<PageOp> hits;
  bool encoder_written = false;
  uint64_t encoder;  // names the encoder's tokens
};

struct PageOpStream::Batch {
  // A row or state of a draft: its stamp stands only if the draft is accepted.
  struct Draft {
    size_t op;
    size_t row;  // of a WriteTokens
    size_t work;
    int64_t number;  // 1 for the first draft
  };
  std::vector<PageOp> ops;
  std::vector<Draft> drafts;
  size_t work = 0;  // the scheduled request being placed
};

PageOpStream::PageOpStream(PageOpStreamOptions options, PagingBackend* backend)
    : options_(std::move(options)), backend_(backend) {
  KVSIM_CHECK_EQ(backend->pools().size(), options_.groups.size());
}

PageOpStream::~PageOpStream() = default;

PageOpStream::Sequence* PageOpStream::Find(RequestId id) {
  const auto at = static_cast<size_t>(id);
  return at < sequences_.size() ? sequences_[at].get() : nullptr;
}

Stamp PageOpStream::RowStamp(Sequence& sequence, size_t group,
                             int64_t position) {
  return InGroup(sequence.keys->Prefix(position + 1).back(), group);
}

Stamp PageOpStream::StateStamp(Sequence& sequence, size_t group,
                               int64_t position) {
  return InGroup(sequence.keys->Prefix(position).back() ^ kStateSalt, group);
}

// --- arrivals -------------------------------------------------------------------

void PageOpStream::OnArrival(const ArrivalRecord& arrival) {
  if (!arrival.queued || !status_.ok()) return;
  const auto at = static_cast<size_t>(arrival.id);
  if (sequences_.size() <= at) sequences_.resize(at + 1);
  sequences_[at] = std::make_unique<Sequence>(arrival.id, *arrival.tokens,
                                              options_.groups.size());
  if (options_.hash_tokens == 0) return;
  Batch batch;
  HashPrefix hash{.sequence = arrival.id,
                  .block_tokens = static_cast<int32_t>(options_.hash_tokens)};
  // A token's id is whatever equal prefixes have in common.
  for (const uint64_t key :
       sequences_[at]->keys->Prefix(arrival.row->input_length)) {
    hash.token_ids.push_back(static_cast<int32_t>(key));
  }
  batch.ops.push_back(std::move(hash));
  Execute(batch);
}

// --- a step -----------------------------------------------------------------------

void PageOpStream::OnSchedule(const StepPlan& plan, const Engine& engine) {
  if (!status_.ok()) return;
  Batch batch;
  EndPreempted(plan, &batch);
  for (const SwappedRequest& swap : plan.swapped_out) SwapOut(swap, &batch);
  UpdateTables(plan, engine, &batch);
  for (const SwappedRequest& swap : plan.swapped_in) SwapIn(swap, &batch);
  Copy(plan, &batch);
  for (const ScheduledRequest& work : plan.scheduled) {
    Run(work, &batch);
    ++batch.work;
  }
  in_flight_.push_back(std::move(batch));
}

void PageOpStream::EndPreempted(const StepPlan& plan, Batch* batch) {
  for (const RequestId id : plan.preempted) {
    const bool swapped =
        std::any_of(plan.swapped_out.begin(), plan.swapped_out.end(),
                    [id](const SwappedRequest& swap) { return swap.id == id; });
    if (swapped) continue;
    Sequence& sequence = *Find(id);
    GatherContext(sequence, sequence.rows, batch);
    ReleaseAll(sequence, batch);
    sequence.rows = sequence.read_from = 0;
    sequence.encoder_written = false;
    for (StatePlace& state : sequence.states) state = StatePlace();
  }
}

void PageOpStream::SwapOut(const SwappedRequest& swap, Batch* batch) {
  Sequence& sequence = *Find(swap.id);
  GatherContext(sequence, sequence.rows, batch);
  std::vector<SwapBlocks> by_group(options_.groups.size());
  for (const BlockSwap& block : swap.blocks) {
    const auto group = static_cast<size_t>(block.group);
    by_group[group].blocks.emplace_back(block.device, block.host);
    StatePlace& state = sequence.states[group];
    if (state.block == block.device) state.host = block.host;
  }
  for (size_t g = 0; g < by_group.size(); ++g) {
    sequence.states[g].block.reset();
    if (by_group[g].blocks.empty()) continue;
    by_group[g].pool = PoolOf(g);
    batch->ops.push_back(std::move(by_group[g]));
  }
  ReleaseAll(sequence, batch);
}

void PageOpStream::SwapIn(const SwappedRequest& swap, Batch* batch) {
  Sequence& sequence = *Find(swap.id);
  std::vector<SwapBlocks> by_group(options_.groups.size());
  for (const BlockSwap& block : swap.blocks) {
    const auto group = static_cast<size_t>(block.group);
    by_group[group].blocks.emplace_back(block.device, block.host);
    StatePlace& state = sequence.states[group];
    if (state.host != block.host) continue;
    state.block = block.device;
    state.host.reset();
  }
  for (size_t g = 0; g < by_group.size(); ++g) {
    if (by_group[g].blocks.empty()) continue;
    by_group[g].pool = PoolOf(g);
    by_group[g].direction = SwapDirection::kToDevice;
    batch->ops.push_back(std::move(by_group[g]));
  }
}

// All that left the tables is released before anything is assigned: a block may have
// gone from one to another.
void PageOpStream::UpdateTables(const StepPlan& plan, const Engine& engine,
                                Batch* batch) {
  std::vector<PageOp> assigned;
  for (const ScheduledRequest& work : plan.scheduled) {
    Sequence& sequence = *Find(work.id);
    const int64_t hit = HitTokens(plan, work.id);
    for (size_t g = 0; g < options_.groups.size(); ++g) {
      const std::span<const BlockId> table =
          engine.BlockTable(work.id, static_cast<int>(g));
      const TableChange change = ChangeOf(sequence.tables[g], table);
      if (!change.gone.empty()) {
        batch->ops.push_back(
            ReleaseBlocks{PoolOf(g), sequence.id, change.gone});
      }
      NewBlocks blocks(PoolOf(g), sequence.id);
      for (const size_t entry : change.come) {
        const bool is_hit =
            static_cast<int64_t>(entry) * options_.groups[g].block_tokens < hit;
        blocks.Add(table[entry], is_hit && !IsCopied(plan, table[entry]));
      }
      blocks.Emit(&assigned, &sequence.hits);
      sequence.tables[g].assign(table.begin(), table.end());
    }
  }
  std::move(assigned.begin(), assigned.end(), std::back_inserter(batch->ops));
}

void PageOpStream::Copy(const StepPlan& plan, Batch* batch) {
  for (const BlockCopy& copy : plan.copies) {
    const PagedGroup& group = options_.groups[static_cast<size_t>(copy.group)];
    batch->ops.push_back(CopyBlock{
        .pool = copy.group,
        .source = copy.from,
        .target = copy.to,
        .rows =
            group.holds_rows() ? static_cast<int32_t>(group.block_tokens) : 1});
  }
}

void PageOpStream::Run(const ScheduledRequest& work, Batch* batch) {
  Sequence& sequence = *Find(work.id);
  std::move(sequence.hits.begin(), sequence.hits.end(),
            std::back_inserter(batch->ops));
  sequence.hits.clear();
  if (work.first_token > 0 && !BatchShape::Decodes(work)) {
    GatherContext(sequence, work.first_token, batch);
    sequence.read_from = work.first_token;
  } else if (BatchShape::Decodes(work)) {
    ReadDecodedWindows(sequence, work.first_token, batch);
  }
  for (size_t g = 0; g < options_.groups.size(); ++g) {
    switch (options_.groups[g].keeps) {
      case PagedGroup::Keeps::kEncoder:
        WriteEncoder(sequence, g, batch);
        break;
      case PagedGroup::Keeps::kState:
        AdvanceState(sequence, g, work, batch);
        break;
      case PagedGroup::Keeps::kAll:
      case PagedGroup::Keeps::kWindow:
      case PagedGroup::Keeps::kChunk:
        WriteRows(sequence, g, work, batch);
        break;
    }
  }
  sequence.rows = work.first_token + work.num_tokens;
}

// --- rows -------------------------------------------------------------------------

void PageOpStream::Gather(Sequence& sequence, size_t group, int64_t begin,
                          int64_t end, Batch* batch) {
  if (begin >= end || sequence.tables[group].empty()) return;
  const bool encoder =
      options_.groups[group].keeps == PagedGroup::Keeps::kEncoder;
  GatherSequence gather{.pool = PoolOf(group),
                        .sequence = sequence.id,
                        .first_position = begin,
                        .end_position = end,
                        .block_table = sequence.tables[group]};
  gather.stamps.reserve(static_cast<size_t>(end - begin));
  const std::span<const uint64_t> keys =
      encoder ? std::span<const uint64_t>() : sequence.keys->Prefix(end);
  for (int64_t p = begin; p < end; ++p) {
    const auto at = static_cast<uint64_t>(p);
    gather.stamps.push_back(
        InGroup(encoder ? sequence.encoder ^ at : keys[at], group));
  }
  batch->ops.push_back(std::move(gather));
}

// What the token at `position` reads.
void PageOpStream::GatherContext(Sequence& sequence, int64_t position,
                                 Batch* batch) {
  for (size_t g = 0; g < options_.groups.size(); ++g) {
    const PagedGroup& group = options_.groups[g];
    if (!group.holds_rows()) continue;
    if (group.keeps == PagedGroup::Keeps::kEncoder) {
      if (sequence.encoder_written) Gather(sequence, g, 0, group.tokens, batch);
      continue;
    }
    Gather(sequence, g, group.FirstRead(position), position, batch);
  }
}

void PageOpStream::ReadDecodedWindows(Sequence& sequence, int64_t position,
                                      Batch* batch) {
  int64_t least = 0;
  for (const PagedGroup& group : options_.groups) {
    if (group.keeps == PagedGroup::Keeps::kWindow ||
        group.keeps == PagedGroup::Keeps::kChunk) {
      least = least == 0 ? group.tokens : std::min(least, group.tokens);
    }
  }
  const int64_t stride = std::max<int64_t>(1, least / 2);
  if (least == 0 || position < sequence.read_from + stride) return;
  for (size_t g = 0; g < options_.groups.size(); ++g) {
    const PagedGroup& group = options_.groups[g];
    if (group.keeps == PagedGroup::Keeps::kWindow ||
        group.keeps == PagedGroup::Keeps::kChunk) {
      Gather(sequence, g, group.FirstRead(position), position, batch);
    }
  }
  sequence.read_from = position;
}

void PageOpStream::WriteRows(Sequence& sequence, size_t group,
                             const ScheduledRequest& work, Batch* batch) {
  const int64_t block = options_.groups[group].block_tokens;
  const Table& table = sequence.tables[group];
  const int64_t end = work.first_token + work.num_tokens;
  WriteTokens write{.pool = PoolOf(group),
                    .sequence = sequence.id,
                    .first_position = work.first_token};
  const std::span<const uint64_t> keys = sequence.keys->Prefix(end);
  for (int64_t p = work.first_token; p < end; ++p) {
    const auto entry = static_cast<size_t>(p / block);
    const BlockId id = entry < table.size() ? table[entry] : kNullBlock;
    write.slots.push_back(id == kNullBlock ? kNoSlot
                                           : int64_t{id} * block + p % block);
    write.stamps.push_back(InGroup(keys[static_cast<size_t>(p)], group));
  }
  for (int32_t d = 1; d <= work.num_drafts; ++d) {
    const int32_t row = work.num_tokens - work.num_drafts + d - 1;
    batch->drafts.push_back(
        {batch->ops.size(), static_cast<size_t>(row), batch->work, d});
  }
  batch->ops.push_back(std::move(write));
}

void PageOpStream::WriteEncoder(Sequence& sequence, size_t group,
                                Batch* batch) {
  if (sequence.encoder_written) return;
  sequence.encoder_written = true;
  const PagedGroup& encoder = options_.groups[group];
  const Table& table = sequence.tables[group];
  WriteTokens write{.pool = PoolOf(group), .sequence = sequence.id};
  for (int64_t p = 0; p < encoder.tokens; ++p) {
    const BlockId id = table[static_cast<size_t>(p / encoder.block_tokens)];
    write.slots.push_back(int64_t{id} * encoder.block_tokens +
                          p % encoder.block_tokens);
    write.stamps.push_back(
        InGroup(sequence.encoder ^ static_cast<uint64_t>(p), group));
  }
  batch->ops.push_back(std::move(write));
}

// --- states -----------------------------------------------------------------------

// The state moves to the block of the chunk's end and goes on there; in all mode it is
// left behind at every boundary on the way. Each draft has a block of its own.
void PageOpStream::AdvanceState(Sequence& sequence, size_t group,
                                const ScheduledRequest& work, Batch* batch) {
  const PagedGroup& rule = options_.groups[group];
  const Table& table = sequence.tables[group];
  StatePlace& state = sequence.states[group];
  const PoolIndex pool = PoolOf(group);
  const int64_t begin = work.first_token;
  const int64_t main_end = begin + work.num_tokens - work.num_drafts;
  const auto entry_of = [&](int64_t tokens) {
    return static_cast<size_t>(rule.EntryOf(tokens));
  };
  std::optional<Stamp> before;
  if (begin > 0) {
    before = StateStamp(sequence, group, begin);
    if (!state.block.has_value()) state.block = table[entry_of(begin)];
  }
  const auto advance = [&](BlockId target, int64_t position) {
    const Stamp after = StateStamp(sequence, group, position);
    batch->ops.push_back(UpdateState{pool, sequence.id, position, state.block,
                                     target, before, after});
    state.block = target;
    before = after;
  };
  size_t entry = entry_of(begin + work.num_tokens);
  if (rule.state_mode == StateMode::kAll) {
    const int64_t block = rule.block_tokens;
    for (int64_t at = (begin / block + 1) * block; at < main_end; at += block) {
      advance(table[entry_of(at)], at);
    }
    entry = entry_of(main_end);
  } else if (state.block.has_value() && *state.block != table[entry]) {
    batch->ops.push_back(RestoreState{pool, sequence.id, begin, *state.block,
                                      table[entry], before});
    state.block = table[entry];
  }
  advance(table[entry], main_end);
  state.written = {*state.block};
  state.main_end = main_end;
  for (int32_t d = 1; d <= work.num_drafts; ++d) {
    batch->drafts.push_back({batch->ops.size(), 0, batch->work, d});
    advance(table[entry + static_cast<size_t>(d)], main_end + d);
    state.written.push_back(*state.block);
  }
}

// After accepted drafts the state stands in a draft's block, and states on boundaries
// that it passed belong into the boundaries' own entries.
void PageOpStream::KeepBoundaryStates(Sequence& sequence,
                                      const ScheduledRequest& work,
                                      int64_t accepted, Batch* batch) {
  for (size_t g = 0; g < options_.groups.size(); ++g) {
    const PagedGroup& rule = options_.groups[g];
    StatePlace& state = sequence.states[g];
    if (rule.holds_rows() || state.written.empty()) continue;
    state.block = state.written[static_cast<size_t>(accepted)];
    for (int64_t d = 0; d <= accepted && work.num_drafts > 0; ++d) {
      const int64_t position = state.main_end + d;
      if (position % rule.block_tokens != 0) continue;
      const BlockId from = state.written[static_cast<size_t>(d)];
      const auto entry = static_cast<size_t>(position / rule.block_tokens - 1);
      const BlockId to = sequence.tables[g][entry];
      if (to == from || to == kNullBlock) continue;
      batch->ops.push_back(
          SaveState{PoolOf(g), sequence.id, position, from, to});
    }
  }
}

// --- outcomes ---------------------------------------------------------------------

void PageOpStream::OnStep(const StepRecord& record, const Engine& engine) {
  step_ = record.step;
  if (!status_.ok()) return;
  if (record.processed != nullptr) {
    Batch batch = std::move(in_flight_.front());
    in_flight_.pop_front();
    Complete(record, &batch);
    Execute(batch);
  }
  Batch now;
  Batch* const last = in_flight_.empty() ? &now : &in_flight_.back();
  for (const auto& ended : {record.finished, record.aborted, record.dropped}) {
    for (const RequestId id : ended) End(id, last);
  }
  for (const ForkRecord& fork : record.forks) Fork(fork, engine, last);
  Execute(now);
}

void PageOpStream::Complete(const StepRecord& record, Batch* batch) {
  const std::vector<ScheduledRequest>& scheduled = record.processed->scheduled;
  const auto accepted_of = [&](size_t work) -> int64_t {
    return std::max<int64_t>(0, record.num_sampled[work] - 1);
  };
  for (const Batch::Draft& draft : batch->drafts) {
    if (draft.number <= accepted_of(draft.work)) continue;
    const Stamp salt = kRejectedSalt + static_cast<uint64_t>(step_);
    PageOp& op = batch->ops[draft.op];
    if (auto* write = std::get_if<WriteTokens>(&op); write != nullptr) {
      write->stamps[draft.row] = Mix(write->stamps[draft.row] ^ salt);
      continue;
    }
    auto& update = std::get<UpdateState>(op);
    update.after = Mix(*update.after ^ salt);
    // The next draft's state follows from this one.
    if (draft.op + 1 == batch->ops.size()) continue;
    auto* next = std::get_if<UpdateState>(&batch->ops[draft.op + 1]);
    if (next != nullptr && next->pool == update.pool &&
        next->sequence == update.sequence) {
      next->before = update.after;
    }
  }
  for (size_t i = 0; i < scheduled.size(); ++i) {
    const ScheduledRequest& work = scheduled[i];
    Sequence* const sequence = Find(work.id);
    if (sequence == nullptr || work.num_drafts == 0) continue;
    sequence->rows -= work.num_drafts - accepted_of(i);
    KeepBoundaryStates(*sequence, work, accepted_of(i), batch);
  }
}

void PageOpStream::ReleaseAll(Sequence& sequence, Batch* batch) {
  for (size_t g = 0; g < options_.groups.size(); ++g) {
    Table blocks;
    for (const BlockId block : sequence.tables[g]) {
      if (block != kNullBlock) blocks.push_back(block);
    }
    sequence.tables[g].clear();
    if (blocks.empty()) continue;
    batch->ops.push_back(
        ReleaseBlocks{PoolOf(g), sequence.id, std::move(blocks)});
  }
}

void PageOpStream::End(RequestId id, Batch* batch) {
  Sequence* const sequence = Find(id);
  if (sequence == nullptr) return;
  GatherContext(*sequence, sequence->rows, batch);
  ReleaseAll(*sequence, batch);
  sequences_[static_cast<size_t>(id)].reset();
}

// The child shares what its table has in common with the parent's; the rest it gets by
// copies of the next batch.
void PageOpStream::Fork(const ForkRecord& fork, const Engine& engine,
                        Batch* batch) {
  const Sequence& parent = *Find(fork.parent);
  const auto at = static_cast<size_t>(fork.child);
  if (sequences_.size() <= at) sequences_.resize(at + 1);
  // The parent's last output is not computed yet: the child has another one there. No
  // row of a trace has such a name.
  const int64_t begin =
      parent.tokens.input_length() + engine.NumOutputs(fork.child) - 1;
  const RequestTokens tokens(parent.tokens, begin,
                             (uint64_t{1} << 63) | ++named_);
  auto child =
      std::make_unique<Sequence>(fork.child, tokens, options_.groups.size());
  child->encoder = parent.encoder;
  if (fork.runs) {
    child->rows = parent.rows;
    child->read_from = parent.read_from;
    child->encoder_written = parent.encoder_written;
    for (size_t g = 0; g < options_.groups.size(); ++g) {
      const std::span<const BlockId> table =
          engine.BlockTable(fork.child, static_cast<int>(g));
      child->tables[g].assign(table.begin(), table.end());
      NewBlocks blocks(PoolOf(g), fork.child);
      for (size_t i = 0; i < table.size(); ++i) {
        if (table[i] == kNullBlock) continue;
        const bool both = i < parent.tables[g].size();
        blocks.Add(table[i], both && parent.tables[g][i] == table[i]);
        if (both && parent.states[g].block == parent.tables[g][i]) {
          child->states[g].block = table[i];
        }
      }
      blocks.Emit(&batch->ops, &batch->ops);
    }
  }
  sequences_[at] = std::move(child);
}

void PageOpStream::Execute(const Batch& batch) {
  if (!status_.ok()) return;
  const absl::Status status = backend_->Execute(batch.ops);
  if (!status.ok()) {
    status_ = absl::Status(
        status.code(), absl::StrCat("step ", step_, ", ", status.message()));
    return;
  }
  for (const PageOp& op : batch.ops) {
    if (const auto* gather = std::get_if<GatherSequence>(&op)) {
      rows_verified_ += gather->end_position - gather->first_position;
    } else if (const auto* update = std::get_if<UpdateState>(&op)) {
      states_verified_ += update->before.has_value() ? 1 : 0;
    } else if (const auto* restore = std::get_if<RestoreState>(&op)) {
      states_verified_ += restore->stamp.has_value() ? 1 : 0;
    }
  }
}

}  // namespace kvsim
