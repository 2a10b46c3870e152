#include "engines/vllm/naive_engine.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "engines/token_chain.h"

namespace kvsim::vllm {

NaiveEngine::NaiveEngine(const Settings& settings, NaiveMistake mistake)
    : settings_(*settings.Normalized()),
      rules_(settings_),
      cache_(settings_, mistake) {}

// --- queues -----------------------------------------------------------------------

Engine::Admission NaiveEngine::Add(const RequestParams& params) {
  if (params.num_prompt_tokens >= settings_.max_model_len) {
    return Admission::kTooLong;
  }
  NewRequest(params);
  waiting_.push_back(params.id);
  return Admission::kQueued;
}

NaiveEngine::Request& NaiveEngine::NewRequest(const RequestParams& params) {
  Request& request = requests_[params.id];
  request.params = params;
  request.held.num_prompt = params.num_prompt_tokens;
  request.held.tokens = dynamic_cast<TokenChain&>(*params.keys).tokens();
  return request;
}

Engine::Forked NaiveEngine::Fork(RequestId parent,
                                 const RequestParams& params) {
  const Request& from = requests_.at(parent);
  Request& child = NewRequest(params);
  child.outputs = from.outputs;
  const bool prompt_done =
      IsRunning(parent) && from.computed >= from.params.num_prompt_tokens;
  const auto num_running = static_cast<int64_t>(running_.size());
  if (!prompt_done || num_running == settings_.max_num_seqs ||
      !cache_.Fork(from.held, &child.held)) {
    waiting_.push_back(params.id);
    return Forked::kWaits;
  }
  child.computed = from.computed;
  child.drafts = from.drafts;
  running_.push_back(params.id);
  return Forked::kRuns;
}

void NaiveEngine::Drop(RequestId id) {
  cache_.Free(&requests_.at(id).held);
  cache_.FreeHost(&requests_.at(id).held);
  for (Queue* queue : {&running_, &waiting_, &set_aside_, &swapped_}) {
    queue->remove(id);
  }
  requests_.erase(id);
}

bool NaiveEngine::IsRunning(RequestId id) const {
  return std::find(running_.begin(), running_.end(), id) != running_.end();
}

// Ids of equal priority and arrival are compared as text.
bool NaiveEngine::Before(RequestId a, RequestId b) const {
  const RequestParams& x = requests_.at(a).params;
  const RequestParams& y = requests_.at(b).params;
  if (x.priority != y.priority) return x.priority < y.priority;
  if (x.arrival_ns != y.arrival_ns) return x.arrival_ns < y.arrival_ns;
  return std::to_string(a) < std::to_string(b);
}

RequestId NaiveEngine::Head(const Queue& queue) const {
  if (settings_.policy == SchedulingPolicy::kFcfs) return queue.front();
  RequestId head = queue.front();
  for (RequestId id : queue) {
    if (Before(id, head)) head = id;
  }
  return head;
}

// First come first served: those set aside before those that wait. By priority:
// whoever is ahead.
NaiveEngine::Queue* NaiveEngine::NextQueue() {
  if (!swapped_.empty()) return &swapped_;  // before anything that waits
  if (set_aside_.empty() && waiting_.empty()) return nullptr;
  if (set_aside_.empty()) return &waiting_;
  if (waiting_.empty()) return &set_aside_;
  const bool waiting_first = settings_.policy == SchedulingPolicy::kPriority &&
                             Before(Head(waiting_), Head(set_aside_));
  return waiting_first ? &waiting_ : &set_aside_;
}

RequestId NaiveEngine::WaitingHead() const {
  const Queue* queue = const_cast<NaiveEngine*>(this)->NextQueue();
  KVSIM_CHECK(queue != nullptr);
  return Head(*queue);
}

RequestId NaiveEngine::AbortHead() {
  Queue* queue = NextQueue();
  KVSIM_CHECK(queue != nullptr);
  const RequestId id = Head(*queue);
  queue->remove(id);
  cache_.FreeHost(&requests_.at(id).held);
  requests_.erase(id);
  return id;
}

// --- scheduling -------------------------------------------------------------------

void NaiveEngine::Schedule(StepPlan* plan) {
  plan->Clear();
  budget_ = settings_.max_num_batched_tokens;
  cache_.StartStep();
  ScheduleRunning(plan);
  if (plan->preempted.empty()) {
    plan->limit = AdmitWaiting(plan);
  } else {
    plan->limit = AdmissionLimit::kPreemption;  // the victims wait
  }
  cache_.EndStep(&plan->copies);
  Advance(plan);
}

void NaiveEngine::ScheduleRunning(StepPlan* plan) {
  const Queue order = running_;
  for (RequestId id : order) {
    if (budget_ == 0) return;
    if (!IsRunning(id)) continue;  // preempted for another one
    Request& r = requests_.at(id);
    const int64_t n = Runnable(r);
    if (n <= 0) continue;
    if (!GetSlots(&r, n, plan)) return;
    ScheduledRequest work;
    work.id = id;
    work.first_token = r.computed;
    work.num_tokens = static_cast<int32_t>(n);
    // What goes beyond the known tokens and outputs in flight is drafts.
    const int64_t sure = r.known() + r.outputs_in_flight - r.computed;
    work.num_drafts = static_cast<int32_t>(std::max<int64_t>(0, n - sure));
    work.num_outputs = r.outputs;
    work.residency = r.preemptions;
    r.drafts = 0;
    plan->scheduled.push_back(work);
    budget_ -= n;
  }
}

int64_t NaiveEngine::Runnable(const Request& r) const {
  // Sure to stop at max_tokens: at least one of its outputs is on its way.
  if (r.outputs_in_flight > 0 && r.outputs + 1 >= r.params.max_tokens) return 0;
  int64_t n = r.known() + r.outputs_in_flight + r.drafts - r.computed;
  if (settings_.long_prefill_token_threshold > 0) {
    n = std::min(n, settings_.long_prefill_token_threshold);
  }
  n = std::min({n, budget_, settings_.max_model_len - r.computed - 1});
  return n <= 0 ? 0 : AlignedChunk(r, r.computed, n, r.held.junction);
}

// Where recurrent states are checkpointed on block boundaries, a chunk of a
// prompt (or of what a preempted request computes again) ends on one, so that
// its state can be hit. 0: not with this budget.
int64_t NaiveEngine::AlignedChunk(const Request& r, int64_t start, int64_t n,
                                  int64_t junction) const {
  bool aligned = false;
  for (size_t g = 0; g < settings_.groups.size(); ++g) {
    aligned = aligned || rules_.Aligned(g);
  }
  const int64_t prompt = r.params.num_prompt_tokens;
  if (!aligned || start >= std::max(prompt, r.known() - 1)) return n;
  const int64_t block = settings_.block_size;
  int64_t largest = settings_.max_num_batched_tokens;
  if (settings_.long_prefill_token_threshold > 0) {
    largest = std::min(largest, settings_.long_prefill_token_threshold);
  }
  const int64_t draft = settings_.DropsLastHit() ? block : 0;
  const int64_t last = std::max<int64_t>(0, r.known() / block * block - draft);
  int64_t end = start + n;
  // Before the last boundary a chunk ends on one, unless blocks are larger than
  // any chunk; open in what is told: whether such a chunk ends on a boundary that
  // it could reach. Here it does.
  if (end < last) {
    const int64_t whole = end / block * block;
    if (whole <= start && block <= largest) return 0;
    if (whole > start) end = whole;
  }
  const auto stop = [&](int64_t at) {
    if (start < at && at < end) end = at;
  };
  if (settings_.realign_chunks && start % block != 0) {
    stop(start / block * block + block);
  }
  stop(last);
  stop(junction / block * block);
  if (settings_.checkpoints.has_value()) {
    CheckpointPolicy places = *settings_.checkpoints;
    places.prompt_end = places.branch_points = false;
    Settings alone = settings_;
    alone.checkpoints = places;
    const NaiveRules rules(alone);
    const int64_t unit = rules_.scheduler_unit;
    for (int64_t b = unit; b < end; b += unit) {
      if (b > start && rules.IsBoundary(b, 1, 0)) stop(b);
    }
  }
  if (rules_.fine) stop(prompt / rules_.hash_unit * rules_.hash_unit);
  return end - start;
}

// Preempts until the request fits; false when it was its own victim.
bool NaiveEngine::GetSlots(Request* r, int64_t num_new, StepPlan* plan) {
  const int64_t processed =
      settings_.free_on_processed ? r->computed - r->in_flight : r->computed;
  while (cache_.Extend(&r->held, r->known(), r->computed, processed, num_new) !=
         NaiveCache::Answer::kFits) {
    const RequestId victim = Victim();
    for (const ScheduledRequest& work : plan->scheduled) {
      if (work.id == victim) budget_ += work.num_tokens;
    }
    std::erase_if(plan->scheduled,
                  [victim](const auto& work) { return work.id == victim; });
    Preempt(victim, plan);
    if (victim == r->params.id) return false;
  }
  return true;
}

// The last of running, or the greatest priority value and arrival.
RequestId NaiveEngine::Victim() const {
  if (settings_.policy == SchedulingPolicy::kFcfs) return running_.back();
  RequestId victim = running_.front();
  for (RequestId id : running_) {
    const RequestParams& a = requests_.at(id).params;
    const RequestParams& b = requests_.at(victim).params;
    const bool later = a.priority > b.priority || (a.priority == b.priority &&
                                                   a.arrival_ns > b.arrival_ns);
    if (later) victim = id;
  }
  return victim;
}

void NaiveEngine::Preempt(RequestId id, StepPlan* plan) {
  Request& r = requests_.at(id);
  r.drafts = 0;
  ++r.preemptions;
  running_.remove(id);
  plan->preempted.push_back(id);
  if (settings_.preemption_mode == PreemptionMode::kSwap) {
    const auto swaps = cache_.SwapOut(&r.held);
    if (swaps.has_value()) {
      swapped_.push_front(id);
      plan->swapped_out.push_back({id, r.computed, *swaps});
      return;
    }
  }
  cache_.Free(&r.held);
  r.computed = r.in_flight = 0;
  waiting_.push_front(id);
}

AdmissionLimit NaiveEngine::AdmitWaiting(StepPlan* plan) {
  Queue draining;
  AdmissionLimit limit = AdmissionLimit::kNoneWaiting;
  while (Queue* queue = NextQueue()) {
    const RequestId id = Head(*queue);
    Request& r = requests_.at(id);
    if (budget_ == 0) {
      limit = AdmissionLimit::kTokenBudget;
    } else if (static_cast<int64_t>(running_.size()) ==
               settings_.max_num_seqs) {
      limit = AdmissionLimit::kMaxSequences;
    } else if (r.outputs_in_flight > 0) {
      draining.push_back(id);
    } else if (queue == &swapped_) {
      limit = TrySwapIn(&r, plan);
    } else {
      limit = TryAdmit(&r, plan);
    }
    if (limit != AdmissionLimit::kNoneWaiting) break;
    queue->remove(id);
  }
  if (limit == AdmissionLimit::kNoneWaiting && !draining.empty()) {
    limit = AdmissionLimit::kAsyncDrain;
  }
  set_aside_.splice(set_aside_.begin(), draining);
  return limit;
}

// Free blocks that an admission may take.
int64_t NaiveEngine::Room() const {
  const int64_t free = cache_.pool().NumFree();
  if (running_.empty()) return free;
  return free -
         static_cast<int64_t>(settings_.watermark *
                              static_cast<double>(settings_.num_gpu_blocks));
}

AdmissionLimit NaiveEngine::TrySwapIn(Request* r, StepPlan* plan) {
  const int64_t n = Runnable(*r);
  if (n <= 0) return AdmissionLimit::kTokenBudget;
  const auto swaps =
      cache_.SwapIn(&r->held, r->known(), r->computed, n, Room());
  if (!swaps.has_value()) return AdmissionLimit::kBlocks;
  const RequestId id = r->params.id;
  plan->swapped_in.push_back({id, r->computed, *swaps});
  running_.push_back(id);
  ScheduledRequest work;
  work.id = id;
  work.first_token = r->computed;
  work.num_tokens = static_cast<int32_t>(n);
  work.num_outputs = r->outputs;
  work.residency = r->preemptions;
  plan->scheduled.push_back(work);
  budget_ -= n;
  return AdmissionLimit::kNoneWaiting;
}

AdmissionLimit NaiveEngine::TryAdmit(Request* r, StepPlan* plan) {
  const NaiveHit hit = cache_.Hit(r->held, r->known());
  r->held.junction = hit.junction;
  int64_t n = r->known() - hit.tokens;
  if (settings_.long_prefill_token_threshold > 0) {
    n = std::min(n, settings_.long_prefill_token_threshold);
  }
  if (!settings_.enable_chunked_prefill && n > budget_) {
    return AdmissionLimit::kTokenBudget;
  }
  n = AlignedChunk(*r, hit.tokens, std::min(n, budget_), hit.junction);
  if (n == 0) return AdmissionLimit::kTokenBudget;
  switch (cache_.Admit(&r->held, hit, r->known(), n, Room())) {
    case NaiveCache::Answer::kFits:
      break;
    case NaiveCache::Answer::kGate:
      return AdmissionLimit::kGate;
    case NaiveCache::Answer::kBlocks:
      return AdmissionLimit::kBlocks;
    case NaiveCache::Answer::kStateDeferral:
      return AdmissionLimit::kStateDeferral;
  }
  r->computed = hit.tokens;
  running_.push_back(r->params.id);
  (r->preemptions == 0 ? plan->admitted : plan->resumed)
      .push_back({r->params.id, hit.tokens});
  ScheduledRequest work;
  work.id = r->params.id;
  work.first_token = hit.tokens;
  work.num_tokens = static_cast<int32_t>(n);
  work.num_outputs = r->outputs;
  work.residency = r->preemptions;
  plan->scheduled.push_back(work);
  budget_ -= n;
  return AdmissionLimit::kNoneWaiting;
}

void NaiveEngine::Advance(StepPlan* plan) {
  for (ScheduledRequest& work : plan->scheduled) {
    Request& r = requests_.at(work.id);
    r.computed += work.num_tokens;
    r.in_flight += work.num_tokens;
    plan->total_tokens += work.num_tokens;
    work.samples = r.computed >= r.known() + r.outputs_in_flight;
    if (work.samples && settings_.async_scheduling) {
      r.outputs_in_flight += 1 + work.num_drafts;
      r.drafts = settings_.num_speculative_tokens;
    }
  }
}

// --- outputs ------------------------------------------------------------------------

void NaiveEngine::Complete(const StepPlan& plan,
                           std::span<const int32_t> num_sampled,
                           std::vector<RequestId>* finished) {
  for (size_t i = 0; i < plan.scheduled.size(); ++i) {
    const RequestId id = plan.scheduled[i].id;
    const auto it = requests_.find(id);
    if (it == requests_.end()) continue;
    Request& r = it->second;
    Record(&r, plan.scheduled[i], num_sampled[i]);
    if (r.outputs < r.params.max_tokens &&
        r.known() < settings_.max_model_len) {
      continue;
    }
    finished->push_back(id);
    cache_.Free(&r.held);  // of a preempted one nothing is left to free
    running_.remove(id);
    waiting_.remove(id);
    set_aside_.remove(id);
    requests_.erase(it);
  }
}

void NaiveEngine::Record(Request* r, const ScheduledRequest& work,
                         int64_t sampled) {
  // Of a sampling step one output is the model's own, the others are drafts
  // that it accepted; the rest was computed for nothing.
  const int64_t rejected = sampled > 0 ? work.num_drafts - (sampled - 1) : 0;
  const bool resident =
      IsRunning(r->params.id) && work.residency == r->preemptions;
  if (resident) {
    cache_.Write(&r->held, work.num_tokens - rejected);
    r->computed -= rejected;
    r->in_flight -= work.num_tokens;
  }
  if (sampled == 0) return;
  r->outputs +=
      std::min(sampled, std::min(r->params.max_tokens - r->outputs,
                                 settings_.max_model_len - r->known()));
  if (!settings_.async_scheduling) {
    r->drafts = settings_.num_speculative_tokens;
    return;
  }
  r->outputs_in_flight -= 1 + work.num_drafts;
  // The newest output is known but not computed by the batch that gave it.
  if (resident) cache_.Key(&r->held, r->known() - 1);
}

// --- inspection -----------------------------------------------------------------------

EngineCounts NaiveEngine::Counts() const {
  EngineCounts counts;
  counts.running = static_cast<int64_t>(running_.size());
  counts.waiting = static_cast<int64_t>(waiting_.size() + set_aside_.size() +
                                        swapped_.size());
  counts.host_blocks = cache_.NumInHost();
  counts.free_blocks = cache_.pool().NumFree();
  counts.cached_keys = cache_.pool().NumDistinctKeys();
  counts.allocations = cache_.pool().allocations();
  counts.evictions = cache_.pool().evictions();
  counts.checkpoints = cache_.checkpoints();
  counts.evicted_keys = cache_.pool().evicted_keys();
  counts.forks = cache_.fork_counts().forks;
  counts.forked_blocks = cache_.fork_counts().shared_blocks;
  counts.fork_copies = cache_.fork_counts().copies;
  return counts;
}

std::vector<const NaiveCache::Holder*> NaiveEngine::Holders() const {
  std::vector<const NaiveCache::Holder*> holders;
  for (const auto& [id, request] : requests_) holders.push_back(&request.held);
  return holders;
}

LedgerSnapshot NaiveEngine::Ledger() const { return cache_.Recount(Holders()); }

LedgerSnapshot NaiveEngine::GroupLedger(int group) const {
  return cache_.RecountGroup(static_cast<size_t>(group), Holders());
}

int64_t NaiveEngine::NumOutputs(RequestId id) const {
  const auto it = requests_.find(id);
  return it == requests_.end() ? 0 : it->second.outputs;
}

std::span<const BlockId> NaiveEngine::BlockTable(RequestId id,
                                                 int group) const {
  const auto it = requests_.find(id);
  if (it == requests_.end() || !it->second.held.holds()) return {};
  return it->second.held.tables[static_cast<size_t>(group)].ids;
}

std::vector<int64_t> NaiveEngine::CommonPrefixBlocks() const {
  std::vector<int64_t> common(settings_.groups.size(), 0);
  if (running_.empty() || !settings_.enable_prefix_caching) return common;
  int64_t holders = 0;
  for (const auto& [id, request] : requests_) {
    if (request.held.holds()) ++holders;
  }
  const NaiveCache::Holder& first = requests_.at(running_.front()).held;
  for (size_t g = 0; g < common.size(); ++g) {
    if (settings_.groups[g].kind != GroupKind::kFull) continue;
    for (BlockId id : first.tables[g].ids) {
      if (cache_.pool().Owners(id) != holders) break;
      ++common[g];
    }
  }
  return common;
}

AllocatorState NaiveEngine::Inspect() const {
  AllocatorState state;
  state.free_queue = cache_.pool().FreeQueue();
  const auto num_blocks = static_cast<BlockId>(settings_.num_gpu_blocks);
  for (BlockId id = 0; id < num_blocks; ++id) {
    state.ref_counts.push_back(static_cast<int32_t>(cache_.pool().Owners(id)));
    state.keyed.push_back(cache_.pool().HasAnyKey(id) ? 1 : 0);
  }
  for (RequestId id : running_) {
    AllocatorState::Tables& tables = state.running.emplace_back();
    tables.id = id;
    for (const NaiveCache::Table& table : requests_.at(id).held.tables) {
      tables.groups.push_back(table.ids);
    }
  }
  return state;
}

std::string NaiveEngine::CheckInvariants() const {
  return Ledger().Balanced() ? "" : "the recount does not balance";
}

}  // namespace kvsim::vllm
