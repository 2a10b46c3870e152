#include "sim/request_story.h"

#include <algorithm>

#include "base/check.h"
#include "traces/request_keys.h"
#include "traces/shared_prefix.h"

namespace kvsim {
namespace {

// Tokens of the request whose prefixes can have keys.
int64_t KnownTokens(const StoryQuestion& question) {
  return question.tokens->input_length() + question.max_tokens;
}

PrefixWatch WatchOf(const StoryQuestion& question) {
  RequestKeys keys(question.tokens.get(), question.key_tokens);
  return PrefixWatch(keys.Prefix(KnownTokens(question) / question.key_tokens),
                     question.key_tokens,
                     static_cast<int>(question.group_block_tokens.size()));
}

bool Contains(std::span<const RequestId> ids, RequestId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

bool SameKind(const WaitStretch& a, const WaitStretch& b) {
  return a.place == b.place && a.limit == b.limit;
}

}  // namespace

const char* ChunkEndName(PrefillChunk::End end) {
  switch (end) {
    case PrefillChunk::End::kComplete:
      return "complete";
    case PrefillChunk::End::kThreshold:
      return "long_prefill_token_threshold";
    case PrefillChunk::End::kBudget:
      return "token_budget";
    case PrefillChunk::End::kStateBoundary:
      return "state_boundary";
  }
  return "";
}

const char* StoryEndName(Story::End end) {
  switch (end) {
    case Story::End::kUnfinished:
      return "unfinished";
    case Story::End::kFinished:
      return "finished";
    case Story::End::kTooLong:
      return "too_long";
    case Story::End::kNeverFit:
      return "never_fit";
  }
  return "";
}

RequestStory::RequestStory(const StoryQuestion& question)
    : question_(question), watch_(WatchOf(question)) {
  story_.id = question.id;
}

// --- arrivals ---------------------------------------------------------------------

void RequestStory::OnArrival(const ArrivalRecord& arrival) {
  if (arrival.id != question_.id) {
    if (arrival.queued) NoteSharer(arrival);
    return;
  }
  story_.arrived = true;
  story_.due_ns = arrival.due_ns;
  story_.prompt_tokens = arrival.row->input_length;
  story_.max_tokens = arrival.max_tokens;
  story_.residencies.emplace_back();
  if (!arrival.queued) return EndLife(Story::End::kTooLong, arrival.time_ns);
  if (arrival.time_ns == arrival.due_ns) return;
  Current().waits.push_back({.begin_ns = arrival.due_ns,
                             .end_ns = arrival.time_ns,
                             .place = WaitStretch::Place::kBetweenSteps});
}

// The last output is never computed, so nobody can hit it.
void RequestStory::NoteSharer(const ArrivalRecord& arrival) {
  if (story_.end != Story::End::kUnfinished) return;
  const int64_t has = arrival.row->input_length + arrival.max_tokens - 1;
  const int64_t shared =
      SharedPrefix(*question_.tokens, *arrival.tokens,
                   std::min(has, KnownTokens(question_) - 1));
  const auto at = static_cast<size_t>(arrival.id);
  if (shared_.size() <= at) shared_.resize(at + 1, 0);
  shared_[at] = shared;
  if (shared <= longest_shared_) return;
  longest_shared_ = shared;
  sharer_ = arrival.id;
}

// After a preemption its own rows are what it could have hit.
SharedBefore RequestStory::Shared() const {
  SharedBefore shared{longest_shared_, sharer_, computed_shared_};
  for (const Residency& residency : story_.residencies) {
    if (!residency.preempted.has_value()) continue;
    const int64_t own =
        residency.preempted->computed_tokens - residency.preempted->in_flight;
    shared.computed = std::max(shared.computed, own);
    if (own <= shared.tokens) continue;
    shared.tokens = own;
    shared.with = question_.id;
  }
  return shared;
}

// --- what the engine tells --------------------------------------------------------

void RequestStory::OnKeyed(RequestId by, int group, uint64_t key) {
  watch_.NoteKeyed(by, group, key);
}

void RequestStory::OnEvicted(RequestId by, int group, uint64_t key) {
  watch_.NoteEvicted(by, group, key);
}

void RequestStory::OnAdmitted(const AdmissionNote& note) {
  if (note.id != question_.id) return;
  KVSIM_CHECK(engine_ != nullptr && Waits());
  Residency& residency = Current();
  residency.admitted = true;
  residency.admitted_step = step_;
  residency.admitted_ns = now_ns_;
  residency.hit = ExplainHit(note, Shared(), engine_->hit_rules(), watch_,
                             question_.hit_unit);
  residency.known_tokens = note.num_tokens;
  residency.computed_tokens = note.hit_tokens;
  scheduled_end_ = note.hit_tokens;
}

void RequestStory::OnSwappedIn(const SwapInNote& note) {
  if (note.id != question_.id) return;
  Residency& residency = Current();
  residency.admitted = residency.swapped_in = true;
  residency.admitted_step = step_;
  residency.admitted_ns = now_ns_;
  residency.known_tokens = note.num_tokens;
  residency.computed_tokens = note.computed_tokens;
  scheduled_end_ = note.computed_tokens;
}

void RequestStory::OnRefused(const RefusalNote& note) {
  if (note.id == question_.id) {
    refused_ = note;
  } else if (note.limit != AdmissionLimit::kAsyncDrain ||
             !other_refused_.has_value()) {
    other_refused_ = note;
  }
}

void RequestStory::OnPreempted(const PreemptionNote& note) {
  if (note.victim != question_.id) return;
  Current().preempted = {.step = step_,
                         .time_ns = now_ns_,
                         .by = note.by,
                         .computed_tokens = note.computed_tokens,
                         .in_flight = note.in_flight,
                         .swapped = note.swapped,
                         .needed_blocks = note.needed_blocks,
                         .free_blocks = note.free_blocks};
  story_.residencies.emplace_back();
}

// --- steps ------------------------------------------------------------------------

void RequestStory::OnStepStart(int64_t step, int64_t now_ns,
                               const Engine& engine) {
  step_ = step;
  now_ns_ = now_ns;
  engine_ = &engine;
  watch_.SetMoment(step, now_ns);
  refused_.reset();
  other_refused_.reset();
}

void RequestStory::OnSchedule(const StepPlan& plan, const Engine& engine) {
  if (story_.end != Story::End::kUnfinished) return;
  for (const ScheduledRequest& work : plan.scheduled) {
    if (work.id == question_.id) {
      NoteWork(work, plan);
    } else if (static_cast<size_t>(work.id) < shared_.size()) {
      computed_shared_ = std::max(
          computed_shared_, std::min(shared_[static_cast<size_t>(work.id)],
                                     work.first_token + work.num_tokens));
    }
  }
  if (Alive() && Current().admitted) NoteHolding(engine);
}

void RequestStory::NoteWork(const ScheduledRequest& work,
                            const StepPlan& plan) {
  Residency& residency = Current();
  const int64_t end = work.first_token + work.num_tokens;
  scheduled_end_ = end;
  if (work.first_token >= residency.known_tokens) {
    ++residency.decode_steps;
    return;
  }
  PrefillChunk chunk{step_, now_ns_, work.first_token, work.num_tokens,
                     PrefillChunk::End::kStateBoundary};
  if (end >= residency.known_tokens) {
    chunk.end = PrefillChunk::End::kComplete;
  } else if (work.num_tokens == question_.long_prefill_token_threshold) {
    chunk.end = PrefillChunk::End::kThreshold;
  } else if (plan.total_tokens == question_.max_num_batched_tokens) {
    chunk.end = PrefillChunk::End::kBudget;
  }
  residency.chunks.push_back(chunk);
}

void RequestStory::NoteHolding(const Engine& engine) {
  std::vector<GroupHolding> holdings;
  int64_t blocks = 0;
  for (int g = 0; g < engine.NumGroups(); ++g) {
    const std::span<const BlockId> table = engine.BlockTable(story_.id, g);
    GroupHolding& holding = holdings.emplace_back();
    const int64_t block = question_.group_block_tokens[static_cast<size_t>(g)];
    for (size_t i = 0; i < table.size(); ++i) {
      if (table[i] == kNullBlock) continue;
      ++holding.blocks;
      const int64_t end = static_cast<int64_t>(i + 1) * block;
      holding.empty_rows += std::clamp<int64_t>(end - scheduled_end_, 0, block);
    }
    blocks += holding.blocks;
  }
  if (blocks <= story_.peak_blocks) return;
  story_.peak_blocks = blocks;
  story_.peak_step = step_;
  story_.peak_ns = now_ns_;
  story_.peak = std::move(holdings);
}

void RequestStory::OnStep(const StepRecord& record, const Engine&) {
  if (!Alive()) return;
  if (Waits()) NoteWait(record);
  if (record.processed != nullptr) NoteOutputs(record);
  if (Contains(record.finished, story_.id)) {
    EndLife(Story::End::kFinished, record.end_ns);
  } else if (Contains(record.aborted, story_.id)) {
    EndLife(Story::End::kNeverFit, record.end_ns);
  }
}

void RequestStory::NoteWait(const StepRecord& record) {
  WaitStretch wait{.begin_ns = record.start_ns,
                   .end_ns = record.end_ns,
                   .first_step = record.step,
                   .steps = 1};
  const std::optional<RefusalNote>& refused =
      refused_.has_value() ? refused_ : other_refused_;
  if (refused.has_value()) {
    wait.limit = refused->limit;
    wait.first_needed = wait.last_needed = refused->needed_blocks;
    wait.first_free = wait.last_free = refused->free_blocks;
  } else if (record.plan != nullptr) {
    wait.limit = record.plan->limit;  // closed by a preemption
  }
  if (!refused_.has_value() && other_refused_.has_value()) {
    wait.place = WaitStretch::Place::kBehind;
    wait.first_head = wait.last_head = other_refused_->id;
  }
  std::vector<WaitStretch>& waits = Current().waits;
  if (waits.empty() || !SameKind(waits.back(), wait)) {
    waits.push_back(wait);
    return;
  }
  WaitStretch& last = waits.back();
  last.end_ns = wait.end_ns;
  ++last.steps;
  last.last_head = wait.last_head;
  last.last_needed = wait.last_needed;
  last.last_free = wait.last_free;
}

void RequestStory::NoteOutputs(const StepRecord& record) {
  const std::vector<ScheduledRequest>& batch = record.processed->scheduled;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (batch[i].id != story_.id || record.num_sampled[i] == 0) continue;
    story_.outputs += record.num_sampled[i];
    if (story_.first_output_ns == Story::kNotYet) {
      story_.first_output_ns = record.end_ns;
    }
  }
}

void RequestStory::EndLife(Story::End end, int64_t time_ns) {
  story_.end = end;
  story_.end_ns = time_ns;
}

}  // namespace kvsim
