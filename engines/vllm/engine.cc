#include "engines/vllm/engine.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace kvsim::vllm {
namespace {

ChunkRules RulesOfChunks(const Settings& settings, const CacheUnits& units) {
  const int64_t threshold = settings.long_prefill_token_threshold;
  const CheckpointPolicy policy =
      settings.checkpoints.value_or(CheckpointPolicy());
  return {.block = settings.block_size,
          .unit = units.fine_hits ? units.hash_tokens : 0,
          .largest = threshold > 0
                         ? std::min(threshold, settings.max_num_batched_tokens)
                         : settings.max_num_batched_tokens,
          .drops_last_hit = settings.DropsLastHit(),
          .realigns = settings.realign_chunks,
          .checkpoints = policy.Spacing(units.scheduler_tokens)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<VllmEngine>> VllmEngine::Create(
    const Settings& settings) {
  absl::StatusOr<Settings> normalized = settings.Normalized();
  if (!normalized.ok()) return normalized.status();
  return std::unique_ptr<VllmEngine>(new VllmEngine(*normalized));
}

VllmEngine::VllmEngine(const Settings& settings)
    : settings_(settings),
      aligns_chunks_(settings.enable_prefix_caching &&
                     std::any_of(settings.groups.begin(), settings.groups.end(),
                                 [](const CacheGroup& g) {
                                   return g.kind == GroupKind::kRecurrent &&
                                          g.state_mode == StateMode::kAlign;
                                 })),
      cache_(settings),
      chunk_rules_(RulesOfChunks(settings, cache_.units())),
      waiting_(settings.policy),
      set_aside_(settings.policy),
      swapped_(settings.policy) {}

// --- requests -----------------------------------------------------------------

Engine::Admission VllmEngine::Add(const RequestParams& params) {
  KVSIM_CHECK(params.num_prompt_tokens > 0 && params.max_tokens > 0);
  if (params.num_prompt_tokens >= settings_.max_model_len) {
    return Admission::kTooLong;
  }
  waiting_.PushBack(NewRequest(params));
  return Admission::kQueued;
}

Request* VllmEngine::NewRequest(const RequestParams& params) {
  if (unused_.empty()) {
    storage_.push_back(std::make_unique<Request>());
    unused_.push_back(storage_.back().get());
  }
  Request* request = unused_.back();
  unused_.pop_back();
  *request = Request();
  request->id = params.id;
  request->priority = params.priority;
  request->arrival_ns = params.arrival_ns;
  request->id_text = std::to_string(params.id);
  request->num_prompt = params.num_prompt_tokens;
  request->max_tokens = params.max_tokens;
  request->blocks.id = num_named_++;
  request->blocks.owner = params.id;
  request->blocks.keys = params.keys;
  request->blocks.num_prompt = params.num_prompt_tokens;
  const size_t at = static_cast<size_t>(params.id);
  if (by_id_.size() <= at) by_id_.resize(at + 1, nullptr);
  KVSIM_CHECK(by_id_[at] == nullptr);
  by_id_[at] = request;
  return request;
}

Engine::Forked VllmEngine::Fork(RequestId parent, const RequestParams& params) {
  const Request* from = Lookup(parent);
  KVSIM_CHECK(from != nullptr && from->num_in_flight == 0 &&
              from->num_placeholders == 0);
  KVSIM_CHECK(params.num_prompt_tokens == from->num_prompt &&
              params.max_tokens > from->num_outputs);
  Request* child = NewRequest(params);
  child->num_outputs = from->num_outputs;
  const bool runs =
      from->status == Request::Status::kRunning &&
      from->num_computed >= from->num_prompt &&
      static_cast<int64_t>(running_.size()) < settings_.max_num_seqs &&
      cache_.Fork(from->blocks, &child->blocks) == Refusal::kNone;
  if (!runs) {
    waiting_.PushBack(child);
    return Forked::kWaits;
  }
  child->status = Request::Status::kRunning;
  child->num_computed = from->num_computed;
  child->num_drafts = from->num_drafts;
  running_.push_back(child);
  return Forked::kRuns;
}

void VllmEngine::Drop(RequestId id) {
  Request* request = Lookup(id);
  KVSIM_CHECK(request != nullptr);
  if (request->status == Request::Status::kRunning) {
    cache_.Free(&request->blocks);
    std::erase(running_, request);
  } else if (request->status == Request::Status::kSwapped) {
    cache_.FreeHost(&request->blocks);
    swapped_.Remove(request);
  } else if (!set_aside_.Remove(request)) {
    waiting_.Remove(request);
  }
  Forget(request);
}

Request* VllmEngine::Lookup(RequestId id) const {
  const size_t at = static_cast<size_t>(id);
  return at < by_id_.size() ? by_id_[at] : nullptr;
}

void VllmEngine::Forget(Request* request) {
  by_id_[static_cast<size_t>(request->id)] = nullptr;
  unused_.push_back(request);
}

bool VllmEngine::HasUnfinished() const {
  return !running_.empty() || SelectQueue() != nullptr;
}

RequestId VllmEngine::WaitingHead() const {
  const RequestQueue* queue = SelectQueue();
  KVSIM_CHECK(queue != nullptr);
  return queue->Peek()->id;
}

RequestId VllmEngine::AbortHead() {
  RequestQueue* queue = SelectQueue();
  KVSIM_CHECK(queue != nullptr);
  Request* request = queue->Peek();
  queue->PopFront();
  const RequestId id = request->id;
  if (request->status == Request::Status::kSwapped) {
    cache_.FreeHost(&request->blocks);
  }
  Forget(request);
  return id;
}

// --- scheduling ---------------------------------------------------------------

void VllmEngine::Schedule(StepPlan* plan) {
  plan->Clear();
  cache_.StartStep();
  const int64_t budget = ScheduleRunning(plan);
  if (plan->preempted.empty()) {
    ScheduleWaiting(budget, plan);
  } else if (SelectQueue() != nullptr) {
    plan->limit = AdmissionLimit::kPreemption;
  }
  cache_.EndStep(&plan->copies);
  AdvanceComputed(plan);
}

// Tokens a running request may compute now; 0: nothing to do this step.
int64_t VllmEngine::RunnableTokens(const Request& r, int64_t budget) const {
  // With outputs in flight the request may already be sure to stop.
  if (r.num_placeholders > 0 &&
      r.num_computed + 2 - r.num_placeholders >= r.num_prompt + r.max_tokens) {
    return 0;
  }
  int64_t n =
      r.num_tokens() + r.num_drafts + r.num_placeholders - r.num_computed;
  if (settings_.long_prefill_token_threshold > 0) {
    n = std::min(n, settings_.long_prefill_token_threshold);
  }
  n = std::min(n, budget);
  n = std::min(n, settings_.max_model_len - 1 - r.num_computed);
  return n > 0 ? AlignChunk(r, r.num_computed, n, r.blocks.junction) : n;
}

// Cuts a chunk of n tokens behind `start` so that recurrent states stand on block
// boundaries; 0 when too little is left for that.
int64_t VllmEngine::AlignChunk(const Request& r, int64_t start, int64_t n,
                               int64_t junction) const {
  if (!aligns_chunks_ || start >= std::max(r.num_prompt, r.num_tokens() - 1)) {
    return n;
  }
  return AlignedChunk(chunk_rules_, start, n, r.num_tokens(), r.num_prompt,
                      junction);
}

int64_t VllmEngine::ScheduleRunning(StepPlan* plan) {
  int64_t budget = settings_.max_num_batched_tokens;
  for (size_t i = 0; i < running_.size() && budget > 0; ++i) {
    Request* r = running_[i];
    const int64_t n = RunnableTokens(*r, budget);
    if (n <= 0) continue;
    if (Extend(r, n) != Refusal::kNone && !MakeRoom(r, n, &i, &budget, plan)) {
      break;
    }
    const int64_t drafts = std::clamp<int64_t>(
        n + r->num_computed - r->num_tokens() - r->num_placeholders, 0,
        r->num_drafts);
    r->num_drafts = 0;
    plan->scheduled.push_back({r->id, r->num_computed, static_cast<int32_t>(n),
                               static_cast<int32_t>(drafts), r->num_outputs,
                               false, r->num_preemptions});
    budget -= n;
  }
  return budget;
}

bool VllmEngine::MakeRoom(Request* request, int64_t num_new, size_t* index,
                          int64_t* budget, StepPlan* plan) {
  do {
    const size_t at = PickVictim();
    Request* victim = running_[at];
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(at));
    if (at < *index) {  // already scheduled in this step: its tokens return
      --*index;
      const auto work =
          std::find_if(plan->scheduled.begin(), plan->scheduled.end(),
                       [victim](const auto& s) { return s.id == victim->id; });
      if (work != plan->scheduled.end()) {
        *budget += work->num_tokens;
        plan->scheduled.erase(work);
      }
    }
    PreemptionNote note{.victim = victim->id,
                        .by = request->id,
                        .computed_tokens = victim->num_computed,
                        .in_flight = victim->num_in_flight,
                        .needed_blocks = cache_.last_shortage().needed,
                        .free_blocks = cache_.last_shortage().room};
    Preempt(victim, plan);
    if (listener_ != nullptr) {
      note.swapped = victim->status == Request::Status::kSwapped;
      listener_->OnPreempted(note);
    }
    if (victim == request) return false;
  } while (Extend(request, num_new) != Refusal::kNone);
  return true;
}

Refusal VllmEngine::Extend(Request* r, int64_t num_new) {
  return cache_.Extend(&r->blocks, r->num_tokens(), r->num_computed,
                       r->num_computed - r->num_in_flight, num_new);
}

// FCFS: the last of running. Priority: the greatest (priority, arrival), the
// first of equals.
size_t VllmEngine::PickVictim() const {
  if (settings_.policy == SchedulingPolicy::kFcfs) return running_.size() - 1;
  const auto victim = std::max_element(
      running_.begin(), running_.end(), [](const Request* a, const Request* b) {
        return std::tie(a->priority, a->arrival_ns) <
               std::tie(b->priority, b->arrival_ns);
      });
  return static_cast<size_t>(victim - running_.begin());
}

void VllmEngine::Preempt(Request* request, StepPlan* plan) {
  plan->preempted.push_back(request->id);
  ++request->num_preemptions;
  request->num_drafts = 0;
  if (SwapOut(request, plan)) return;
  cache_.Free(&request->blocks);
  request->status = Request::Status::kPreempted;
  request->num_computed = 0;
  request->num_in_flight = 0;
  waiting_.PushFront(request);
}

bool VllmEngine::SwapOut(Request* request, StepPlan* plan) {
  if (settings_.preemption_mode != PreemptionMode::kSwap) return false;
  SwappedRequest swap{request->id, request->num_computed, {}};
  if (!cache_.SwapOut(&request->blocks, &swap.blocks)) return false;
  request->status = Request::Status::kSwapped;
  swapped_.PushFront(request);
  plan->swapped_out.push_back(std::move(swap));
  return true;
}

// The queue whose head is served next; null when both are empty.
RequestQueue* VllmEngine::SelectQueue() {
  return const_cast<RequestQueue*>(std::as_const(*this).SelectQueue());
}

const RequestQueue* VllmEngine::SelectQueue() const {
  if (!swapped_.empty()) return &swapped_;
  if (set_aside_.empty()) return waiting_.empty() ? nullptr : &waiting_;
  if (waiting_.empty() || settings_.policy == SchedulingPolicy::kFcfs) {
    return &set_aside_;
  }
  return ServedBefore()(waiting_.Peek(), set_aside_.Peek()) ? &waiting_
                                                            : &set_aside_;
}

void VllmEngine::ScheduleWaiting(int64_t budget, StepPlan* plan) {
  std::vector<Request*> draining;
  AdmissionLimit limit = AdmissionLimit::kNoneWaiting;
  for (RequestQueue* queue = SelectQueue(); queue != nullptr;
       queue = SelectQueue()) {
    if (budget <= 0) {
      limit = AdmissionLimit::kTokenBudget;
      break;
    }
    if (static_cast<int64_t>(running_.size()) >= settings_.max_num_seqs) {
      limit = AdmissionLimit::kMaxSequences;
      break;
    }
    Request* request = queue->Peek();
    if (request->status == Request::Status::kPreempted &&
        request->num_placeholders > 0) {
      queue->PopFront();
      draining.push_back(request);
      continue;
    }
    limit = request->status == Request::Status::kSwapped
                ? TrySwapIn(request, &budget, plan)
                : TryAdmit(request, &budget, plan);
    if (limit != AdmissionLimit::kNoneWaiting) break;
    queue->PopFront();
  }
  if (listener_ != nullptr) {
    for (const Request* request : draining) {
      TellRefused(*request, AdmissionLimit::kAsyncDrain);
    }
    if (limit != AdmissionLimit::kNoneWaiting) {
      TellRefused(*SelectQueue()->Peek(), limit);
    }
  }
  // Set aside ahead of those set aside earlier, in the order they were met.
  for (size_t i = draining.size(); i-- > 0;) set_aside_.PushFront(draining[i]);
  if (limit == AdmissionLimit::kNoneWaiting && !draining.empty()) {
    limit = AdmissionLimit::kAsyncDrain;
  }
  plan->limit = limit;
}

void VllmEngine::TellRefused(const Request& request, AdmissionLimit limit) {
  RefusalNote note{.id = request.id, .limit = limit};
  if (limit == AdmissionLimit::kGate || limit == AdmissionLimit::kBlocks) {
    note.needed_blocks = cache_.last_shortage().needed;
    note.free_blocks = cache_.last_shortage().room;
  }
  listener_->OnRefused(note);
}

AdmissionLimit VllmEngine::TryAdmit(Request* request, int64_t* budget,
                                    StepPlan* plan) {
  const int64_t num_tokens = request->num_tokens();
  const PrefixHit& hit = cache_.FindHit(request->blocks, num_tokens);
  const int64_t hit_tokens = hit.tokens;
  int64_t n = num_tokens - hit_tokens;
  if (settings_.long_prefill_token_threshold > 0) {
    n = std::min(n, settings_.long_prefill_token_threshold);
  }
  if (!settings_.enable_chunked_prefill && n > *budget) {
    return AdmissionLimit::kTokenBudget;
  }
  n = AlignChunk(*request, hit_tokens, std::min(n, *budget), hit.junction);
  if (n == 0) return AdmissionLimit::kTokenBudget;
  switch (cache_.Admit(&request->blocks, num_tokens, n, Watermark())) {
    case Refusal::kGate:
      return AdmissionLimit::kGate;
    case Refusal::kBlocks:
      return AdmissionLimit::kBlocks;
    case Refusal::kStateDeferral:
      return AdmissionLimit::kStateDeferral;
    case Refusal::kNone:
      break;
  }
  auto& admissions = request->status == Request::Status::kWaiting
                         ? plan->admitted
                         : plan->resumed;
  admissions.push_back({request->id, hit_tokens});
  request->status = Request::Status::kRunning;
  request->num_computed = hit_tokens;
  running_.push_back(request);
  plan->scheduled.push_back({request->id, hit_tokens, static_cast<int32_t>(n),
                             0, request->num_outputs, false,
                             request->num_preemptions});
  *budget -= n;
  return AdmissionLimit::kNoneWaiting;
}

AdmissionLimit VllmEngine::TrySwapIn(Request* request, int64_t* budget,
                                     StepPlan* plan) {
  const int64_t n = RunnableTokens(*request, *budget);
  if (n <= 0) return AdmissionLimit::kTokenBudget;
  SwappedRequest swap{request->id, request->num_computed, {}};
  const Refusal refusal =
      cache_.SwapIn(&request->blocks, request->num_tokens(),
                    request->num_computed, n, Watermark(), &swap.blocks);
  if (refusal != Refusal::kNone) return AdmissionLimit::kBlocks;
  if (listener_ != nullptr) {
    listener_->OnSwappedIn({request->id, request->num_tokens(),
                            request->num_computed,
                            static_cast<int64_t>(swap.blocks.size())});
  }
  plan->swapped_in.push_back(std::move(swap));
  request->status = Request::Status::kRunning;
  running_.push_back(request);
  plan->scheduled.push_back({request->id, request->num_computed,
                             static_cast<int32_t>(n), 0, request->num_outputs,
                             false, request->num_preemptions});
  *budget -= n;
  return AdmissionLimit::kNoneWaiting;
}

// Blocks that an admission leaves free.
int64_t VllmEngine::Watermark() const {
  return running_.empty() ? 0 : settings_.WatermarkBlocks();
}

// Computed tokens advance when a step is scheduled, not when it has run.
void VllmEngine::AdvanceComputed(StepPlan* plan) {
  for (ScheduledRequest& work : plan->scheduled) {
    Request* r = by_id_[static_cast<size_t>(work.id)];
    r->num_computed += work.num_tokens;
    r->num_in_flight += work.num_tokens;
    plan->total_tokens += work.num_tokens;
    work.samples = r->num_computed >= r->num_tokens() + r->num_placeholders;
    if (!settings_.async_scheduling || !work.samples) continue;
    r->num_placeholders += 1 + work.num_drafts;
    r->num_drafts = settings_.num_speculative_tokens;
  }
}

// --- outputs --------------------------------------------------------------------

void VllmEngine::Complete(const StepPlan& plan,
                          std::span<const int32_t> num_sampled,
                          std::vector<RequestId>* finished) {
  KVSIM_CHECK(num_sampled.size() == plan.scheduled.size());
  const size_t before = finished->size();
  for (size_t i = 0; i < plan.scheduled.size(); ++i) {
    Request* request = Lookup(plan.scheduled[i].id);
    if (request == nullptr) continue;  // finished by an earlier batch
    RecordOutputs(request, plan.scheduled[i], num_sampled[i], finished);
  }
  if (finished->size() == before) return;
  std::erase_if(running_, [](const Request* r) {
    return r->status == Request::Status::kFinished;
  });
}

void VllmEngine::RecordOutputs(Request* request, const ScheduledRequest& work,
                               int32_t sampled,
                               std::vector<RequestId>* finished) {
  const int64_t rejected =
      work.num_drafts > 0 && sampled > 0 ? work.num_drafts - (sampled - 1) : 0;
  if (request->num_computed > 0) request->num_computed -= rejected;
  if (request->num_placeholders > 0) request->num_placeholders -= rejected;
  const bool running = request->status == Request::Status::kRunning;
  if (running && work.residency == request->num_preemptions) {
    request->num_in_flight -= work.num_tokens;
    cache_.CompleteRows(&request->blocks, work.num_tokens - rejected);
  }
  if (sampled == 0) return;
  const int64_t room = std::min(
      request->max_tokens - request->num_outputs,
      std::max<int64_t>(1, settings_.max_model_len - request->num_tokens()));
  const int64_t taken = std::min<int64_t>(sampled, room);
  request->num_outputs += taken;
  if (settings_.async_scheduling) {
    request->num_placeholders -= taken;
    if (running) {
      cache_.CacheBlocks(&request->blocks,
                         request->num_computed - request->num_placeholders);
    }
  } else {
    request->num_drafts = settings_.num_speculative_tokens;
  }
  if (Stopped(*request)) Finish(request, finished);
}

bool VllmEngine::Stopped(const Request& request) const {
  return request.num_outputs >= request.max_tokens ||
         request.num_tokens() >= settings_.max_model_len;
}

// A running request leaves running_ when the whole batch is recorded; until
// then its status says that it is gone.
void VllmEngine::Finish(Request* request, std::vector<RequestId>* finished) {
  finished->push_back(request->id);
  if (request->status == Request::Status::kRunning) {
    cache_.Free(&request->blocks);
    request->status = Request::Status::kFinished;
  } else if (!set_aside_.Remove(request)) {
    waiting_.Remove(request);
  }
  Forget(request);
}

// --- inspection -----------------------------------------------------------------

void VllmEngine::SetCacheListener(CacheListener* listener) {
  listener_ = listener;
  cache_.SetListener(listener);
}

const HitRules* VllmEngine::hit_rules() const {
  return settings_.enable_prefix_caching ? &cache_.hit_rules() : nullptr;
}

EngineCounts VllmEngine::Counts() const {
  const BlockPool& pool = cache_.pool();
  EngineCounts counts;
  counts.running = static_cast<int64_t>(running_.size());
  counts.waiting = static_cast<int64_t>(waiting_.size() + set_aside_.size() +
                                        swapped_.size());
  counts.host_blocks = cache_.host().num_held();
  counts.free_blocks = pool.num_free();
  counts.cached_keys = pool.num_keys();
  counts.allocations = pool.allocations();
  counts.evictions = pool.evictions();
  counts.checkpoints = cache_.checkpoints();
  counts.evicted_keys = pool.evicted_keys();
  const KvCacheManager::ForkCounts& forks = cache_.fork_counts();
  counts.forks = forks.forks;
  counts.forked_blocks = forks.shared_blocks;
  counts.fork_copies = forks.copies;
  return counts;
}

int64_t VllmEngine::NumOutputs(RequestId id) const {
  const Request* request = Lookup(id);
  return request == nullptr ? 0 : request->num_outputs;
}

std::span<const BlockId> VllmEngine::BlockTable(RequestId id, int group) const {
  KVSIM_CHECK(group >= 0 && group < NumGroups());
  const Request* request = Lookup(id);
  if (request == nullptr || request->blocks.groups.empty() ||
      request->status == Request::Status::kSwapped) {
    return {};
  }
  return request->blocks.groups[static_cast<size_t>(group)].table;
}

std::vector<int64_t> VllmEngine::CommonPrefixBlocks() const {
  if (running_.empty()) return std::vector<int64_t>(cache_.num_groups(), 0);
  return cache_.CommonPrefixBlocks(running_.front()->blocks,
                                   static_cast<int64_t>(running_.size()));
}

AllocatorState VllmEngine::Inspect() const {
  const BlockPool& pool = cache_.pool();
  AllocatorState state;
  state.free_queue = pool.FreeQueue();
  const BlockId n = static_cast<BlockId>(pool.num_blocks());
  for (BlockId id = 0; id < n; ++id) {
    state.ref_counts.push_back(static_cast<int32_t>(pool.RefCount(id)));
    state.keyed.push_back(pool.HasAnyKey(id) ? 1 : 0);
  }
  for (const Request* r : running_) {
    AllocatorState::Tables& tables = state.running.emplace_back();
    tables.id = r->id;
    for (const GroupBlocks& group : r->blocks.groups) {
      tables.groups.push_back(group.table);
    }
  }
  return state;
}

std::string VllmEngine::CheckInvariants() const {
  std::string wrong = cache_.pool().CheckInvariants();
  if (!wrong.empty()) return wrong;
  if (!cache_.Ledger().Balanced()) return "the ledger does not balance";
  return "";
}

}  // namespace kvsim::vllm
