#include "sim/simulator.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace kvsim {
namespace {

constexpr int64_t kNotEnded = -1;

}  // namespace

Simulator::Simulator(Engine* engine, CostModel* cost,
                     const SimulatorOptions& options)
    : engine_(engine), cost_(cost), options_(options), tokens_(options.tokens) {
  KVSIM_CHECK(width() >= 1 && (width() == 1 || !options.asynchronous));
}

// --- arrivals -------------------------------------------------------------------

absl::Status Simulator::Run(TraceReader* trace, const bool* stop) {
  while (stop == nullptr || !*stop) {
    absl::Status status = QueueArrivals(trace);
    if (!status.ok()) return status;
    if (engine_->HasUnfinished() || InFlight()) {
      Step();
      status = cost_->status();
      if (!status.ok()) return status;
    } else if (!upcoming_.empty()) {
      now_ns_ = std::max(now_ns_, upcoming_.top().time_ns);
    } else {
      break;
    }
  }
  return absl::OkStatus();
}

// Keeps the earliest row that has not arrived at hand; closed loops need all.
absl::Status Simulator::ReadAhead(TraceReader* trace) {
  while (!exhausted_ &&
         (options_.arrivals == Arrivals::kAfterPrevious || upcoming_.empty())) {
    TraceRequest row;
    absl::StatusOr<bool> more = trace->Next(&row);
    if (!more.ok()) return more.status();
    if (*more) {
      Place(std::move(row));
    } else {
      exhausted_ = true;
    }
  }
  return absl::OkStatus();
}

void Simulator::Place(TraceRequest row) {
  const size_t id = static_cast<size_t>(row.id);
  if (ended_ns_.size() <= id) {
    ended_ns_.resize(id + 1, kNotEnded);
    families_.resize(id + 1);
    live_.resize((id + 1) * static_cast<size_t>(width()));
  }
  Waiting next{row.arrival_ns, std::move(row), nullptr};
  next.tokens = tokens_.Add(next.row);
  if (options_.arrivals == Arrivals::kTimestamps || next.row.previous < 0) {
    upcoming_.push(std::move(next));
    return;
  }
  const size_t before = static_cast<size_t>(next.row.previous);
  if (successors_.size() <= before) successors_.resize(before + 1);
  successors_[before].push_back(std::move(next));
}

absl::Status Simulator::QueueArrivals(TraceReader* trace) {
  arrived_.clear();
  while (true) {
    absl::Status status = ReadAhead(trace);
    if (!status.ok()) return status;
    if (upcoming_.empty() || upcoming_.top().time_ns > now_ns_) break;
    const Waiting next = upcoming_.top();
    upcoming_.pop();
    Queue(next);
  }
  return absl::OkStatus();
}

// Separate samples are requests from the start.
void Simulator::Queue(const Waiting& next) {
  const bool separate =
      options_.sequences.kind == Sequences::Kind::kSeparateSamples;
  bool queued = false;
  for (int64_t k = 0; k < (separate ? width() : 1); ++k) {
    queued |= QueueSequence(next, k);
  }
  if (!queued) EndRow(next.row.id);
}

bool Simulator::QueueSequence(const Waiting& next, int64_t k) {
  const TraceRequest& row = next.row;
  const auto id = static_cast<RequestId>(row.id * width() + k);
  auto live = std::make_unique<Live>();
  live->tokens = next.tokens;
  if (k > 0) {
    live->tokens = std::make_shared<RequestTokens>(
        *next.tokens, row.input_length, NewName(id));
  }
  live->keys.emplace(live->tokens.get(), options_.block_tokens);
  RequestParams& params = live->params;
  params.id = id;
  params.num_prompt_tokens = row.input_length;
  params.max_tokens = std::max<int64_t>(
      1,
      std::min(row.output_length, options_.max_model_len - row.input_length));
  params.priority = row.priority;
  params.arrival_ns = next.time_ns;
  params.keys = &*live->keys;
  const bool queued = engine_->Add(params) == Engine::Admission::kQueued;
  for (StepObserver* o : observers_) {
    o->OnArrival({id, next.time_ns, now_ns_, &row, params.max_tokens, queued,
                  live->tokens.get()});
  }
  if (!queued) return false;
  arrived_.push_back(id);
  ++FamilyOf(id).open;
  live_[static_cast<size_t>(id)] = std::move(live);
  return true;
}

void Simulator::EndSequence(RequestId id) {
  live_[static_cast<size_t>(id)].reset();
  if (--FamilyOf(id).open == 0) EndRow(RowOf(id));
}

void Simulator::EndRow(int64_t row) {
  const auto at = static_cast<size_t>(row);
  ended_ns_[at] = now_ns_;
  if (at >= successors_.size()) return;
  for (Waiting& next : successors_[at]) {
    next.time_ns = now_ns_ + next.row.think_time_ns;
    upcoming_.push(std::move(next));
  }
  successors_[at].clear();
}

// --- steps ----------------------------------------------------------------------

std::unique_ptr<StepPlan> Simulator::NewPlan() {
  if (spare_plans_.empty()) return std::make_unique<StepPlan>();
  std::unique_ptr<StepPlan> plan = std::move(spare_plans_.back());
  spare_plans_.pop_back();
  return plan;
}

void Simulator::Step() {
  StepRecord record;
  record.step = steps_++;
  record.start_ns = now_ns_;
  record.arrived = arrived_;
  for (StepObserver* o : observers_) {
    o->OnStepStart(record.step, now_ns_, *engine_);
  }
  finished_.clear();
  aborted_.clear();
  dropped_.clear();
  forks_.clear();
  record.scheduled = engine_->HasUnfinished();
  if (record.scheduled) {
    in_flight_.push_back(NewPlan());
    StepPlan* plan = in_flight_.back().get();
    engine_->Schedule(plan);
    record.plan = plan;
    record.after_schedule = engine_->Counts();
    for (StepObserver* o : observers_) o->OnSchedule(*plan, *engine_);
  }
  const size_t depth = options_.asynchronous ? 2 : 1;
  std::unique_ptr<StepPlan> done;
  if (in_flight_.size() >= depth || !record.scheduled ||
      record.plan->total_tokens == 0) {
    CompleteOldest(&record);
    done = std::move(in_flight_.front());
    in_flight_.pop_front();
    AbortIfStuck(&record);
    AbortIfCircling(&record);
  }
  record.end_ns = now_ns_;
  record.finished = finished_;
  record.aborted = aborted_;
  record.dropped = dropped_;
  record.forks = forks_;
  record.at_end = engine_->Counts();
  for (StepObserver* o : observers_) o->OnStep(record, *engine_);
  if (done != nullptr) spare_plans_.push_back(std::move(done));
}

void Simulator::CompleteOldest(StepRecord* record) {
  const StepPlan& batch = *in_flight_.front();
  sampled_.clear();
  for (const ScheduledRequest& work : batch.scheduled) {
    sampled_.push_back(SampledTokens(work));
  }
  if (batch.total_tokens > 0) now_ns_ += cost_->StepNs(batch);
  now_ns_ += options_.host_link.StepNs(batch);
  engine_->Complete(batch, sampled_, &finished_);
  for (RequestId id : finished_) EndSequence(id);
  if (width() > 1) Branch(batch);
  record->processed = &batch;
  record->num_sampled = sampled_;
}

// --- sequences ------------------------------------------------------------------

// What is left of the batch has its outputs: nothing is in flight.
void Simulator::Branch(const StepPlan& batch) {
  if (options_.sequences.kind == Sequences::Kind::kSeparateSamples) return;
  std::vector<Family*> families;
  for (size_t i = 0; i < batch.scheduled.size(); ++i) {
    const RequestId id = batch.scheduled[i].id;
    if (sampled_[i] == 0 || live_[static_cast<size_t>(id)] == nullptr) continue;
    Family& family = FamilyOf(id);
    if (!family.has_forked) {
      family.has_forked = true;
      for (RequestId k = 1; k < width(); ++k) Fork(id, id + k);
    } else if (options_.sequences.kind == Sequences::Kind::kBeams) {
      if (family.sampled.empty()) families.push_back(&family);
      family.sampled.push_back(id);
    }
  }
  for (Family* family : families) {
    DrawBeams(family);
    family->sampled.clear();
  }
}

// A stream for each row: what one draws does not depend on who else runs.
void Simulator::DrawBeams(Family* family) {
  const std::vector<RequestId>& sampled = family->sampled;
  const int64_t row = RowOf(sampled[0]);
  if (!family->draws.has_value()) {
    family->draws.emplace(static_cast<uint64_t>(row), "beams");
  }
  RandomStream& draws = *family->draws;
  const RequestId winner = sampled[draws.Below(sampled.size())];
  const auto loser = static_cast<RequestId>(
      row * width() +
      static_cast<int64_t>(draws.Below(static_cast<uint64_t>(width()))));
  if (loser == winner || live_[static_cast<size_t>(loser)] == nullptr) return;
  engine_->Drop(loser);
  dropped_.push_back(loser);
  --family->open;
  Fork(winner, loser);
}

void Simulator::Fork(RequestId parent, RequestId child) {
  const Live& from = *live_[static_cast<size_t>(parent)];
  auto live = std::make_unique<Live>();
  const int64_t begin =
      from.params.num_prompt_tokens + engine_->NumOutputs(parent) - 1;
  live->tokens =
      std::make_shared<RequestTokens>(*from.tokens, begin, NewName(child));
  live->keys.emplace(live->tokens.get(), *from.keys, begin);
  live->params = from.params;
  live->params.id = child;
  live->params.keys = &*live->keys;
  const bool runs =
      engine_->Fork(parent, live->params) == Engine::Forked::kRuns;
  forks_.push_back({parent, child, runs});
  ++FamilyOf(child).open;
  live_[static_cast<size_t>(child)] = std::move(live);
}

// Rows are numbered below 2^31.
uint64_t Simulator::NewName(RequestId id) {
  const auto name = static_cast<uint64_t>(++FamilyOf(id).names);
  return (name << 32) | static_cast<uint64_t>(RowOf(id));
}

// --- requests that cannot fit -----------------------------------------------------

// The head of the queue can never fit when nothing runs and nothing moved.
void Simulator::AbortIfStuck(StepRecord* record) {
  if (!record->scheduled || record->plan->total_tokens > 0 ||
      record->processed->total_tokens > 0 || !finished_.empty() ||
      !record->plan->preempted.empty()) {
    return;
  }
  // Asynchronous: empty batches follow each other in the queue for ever.
  for (const auto& batch : in_flight_) {
    if (batch->total_tokens > 0) return;
  }
  KVSIM_CHECK(record->after_schedule.running == 0)
      << "no running request can be scheduled; step " << record->step;
  if (record->after_schedule.waiting == 0) return;
  DropHead();
}

// A request that outgrows the whole pool preempts itself, is admitted again and
// comes back to the same point: the second time it is dropped. (The engine's gate
// refuses such a request at its return, unless the gate is off.)
void Simulator::AbortIfCircling(StepRecord* record) {
  if (!record->scheduled || record->plan->preempted.empty() ||
      record->plan->total_tokens > 0 || record->after_schedule.running > 0) {
    return;
  }
  const RequestId id = record->plan->preempted.back();
  const int64_t outputs = engine_->NumOutputs(id);
  if (id == circling_ && outputs == circling_outputs_ &&
      engine_->WaitingHead() == id) {
    DropHead();
  }
  circling_ = id;
  circling_outputs_ = outputs;
}

void Simulator::DropHead() {
  aborted_.push_back(engine_->AbortHead());
  EndSequence(aborted_.back());
}

int32_t Simulator::SampledTokens(const ScheduledRequest& work) const {
  const Live* live = live_[static_cast<size_t>(work.id)].get();
  if (live == nullptr || !work.samples) return 0;
  int64_t accepted = 0;
  if (work.num_drafts > 0) {
    const uint32_t mixed =
        static_cast<uint32_t>(work.num_outputs) * 2654435761u;
    accepted = std::min<int64_t>(
        work.num_drafts, (mixed >> 16) % (options_.num_speculative_tokens + 1));
  }
  return static_cast<int32_t>(std::min<int64_t>(
      accepted + 1, live->params.max_tokens - engine_->NumOutputs(work.id)));
}

}  // namespace kvsim
