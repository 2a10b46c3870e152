#include "tests/engine_program.h"

#include <algorithm>
#include <sstream>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "engines/vllm/engine.h"
#include "engines/vllm/naive_engine.h"
#include "engines/vllm/naive_rules.h"

namespace kvsim {
namespace {

bool Same(const ScheduledRequest& a, const ScheduledRequest& b) {
  return a.id == b.id && a.first_token == b.first_token &&
         a.num_tokens == b.num_tokens && a.num_drafts == b.num_drafts &&
         a.num_outputs == b.num_outputs && a.samples == b.samples &&
         a.residency == b.residency;
}

bool Same(const AdmittedRequest& a, const AdmittedRequest& b) {
  return a.id == b.id && a.hit_tokens == b.hit_tokens;
}

bool Same(const SwappedRequest& a, const SwappedRequest& b) {
  return a.id == b.id && a.num_tokens == b.num_tokens && a.blocks == b.blocks;
}

template <typename T>
bool SameLists(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return Same(x, y); });
}

std::string PlanDifference(const StepPlan& a, const StepPlan& b) {
  if (!SameLists(a.scheduled, b.scheduled)) return "plan: scheduled";
  if (!SameLists(a.admitted, b.admitted)) return "plan: admitted";
  if (!SameLists(a.resumed, b.resumed)) return "plan: resumed";
  if (a.preempted != b.preempted) return "plan: preempted";
  if (!SameLists(a.swapped_out, b.swapped_out)) return "plan: swapped out";
  if (!SameLists(a.swapped_in, b.swapped_in)) return "plan: swapped in";
  if (a.total_tokens != b.total_tokens) return "plan: total_tokens";
  if (a.copies != b.copies) return "plan: copies";
  if (a.limit == b.limit) return "";
  return std::string("plan: limit ") + AdmissionLimitName(a.limit) + " vs. " +
         AdmissionLimitName(b.limit);
}

std::string CountsDifference(const EngineCounts& a, const EngineCounts& b) {
  if (a.running != b.running) return "counts: running";
  if (a.waiting != b.waiting) return "counts: waiting";
  if (a.free_blocks != b.free_blocks) return "counts: free_blocks";
  if (a.cached_keys != b.cached_keys) return "counts: cached_keys";
  if (a.allocations != b.allocations) return "counts: allocations";
  if (a.evictions != b.evictions) return "counts: evictions";
  if (a.evicted_keys != b.evicted_keys) return "counts: evicted_keys";
  if (a.checkpoints != b.checkpoints) return "counts: checkpoints";
  if (a.host_blocks != b.host_blocks) return "counts: host_blocks";
  if (a.forks != b.forks) return "counts: forks";
  if (a.forked_blocks != b.forked_blocks) return "counts: forked_blocks";
  if (a.fork_copies != b.fork_copies) return "counts: fork_copies";
  return "";
}

std::string StateDifference(const AllocatorState& a, const AllocatorState& b) {
  if (a.free_queue != b.free_queue) return "free queue";
  if (a.ref_counts != b.ref_counts) return "reference counts";
  if (a.keyed != b.keyed) return "keyed blocks";
  if (a.running.size() != b.running.size()) return "running";
  for (size_t i = 0; i < a.running.size(); ++i) {
    if (a.running[i].id != b.running[i].id) return "order of running";
    if (a.running[i].groups != b.running[i].groups) return "running tables";
  }
  return "";
}

std::string LedgerDifference(const LedgerSnapshot& a, const LedgerSnapshot& b) {
  if (a == b) return "";
  std::ostringstream out;
  for (size_t i = 0; i < kNumAccounts; ++i) {
    const auto account = static_cast<Account>(i);
    if (a[account] == b[account]) continue;
    out << "ledger: " << AccountName(account) << " " << a[account]
        << ", recounted " << b[account];
    return out.str();
  }
  for (size_t i = 0; i < kNumOfWhich; ++i) {
    const auto figure = static_cast<OfWhich>(i);
    if (a[figure] == b[figure]) continue;
    out << "ledger: " << OfWhichName(figure) << " " << a[figure]
        << ", recounted " << b[figure];
    return out.str();
  }
  return "ledger: pool_bytes";
}

}  // namespace

std::unique_ptr<Engine> MakeVllmEngine(const vllm::Settings& settings) {
  auto engine = vllm::VllmEngine::Create(settings);
  KVSIM_CHECK(engine.ok()) << engine.status();
  return *std::move(engine);
}

// --- the state ----------------------------------------------------------------------

State::State(const Program& program, const SubjectFactory& make)
    : settings_(program.settings),
      depth_(settings_.async_scheduling ? program.depth : 1),
      hash_unit_(vllm::NaiveRules(*settings_.Normalized()).hash_unit),
      naive_(std::make_unique<vllm::NaiveEngine>(settings_)) {
  for (const bool remembers : {true, false}) {
    vllm::Settings subject = settings_;
    subject.remember_refusal = remembers;
    subjects_.push_back(make(subject));
  }
}

const State::Known* State::Find(RequestId id) const {
  const auto it = std::find_if(known_.begin(), known_.end(),
                               [id](const Known& k) { return k.id == id; });
  return it == known_.end() ? nullptr : &*it;
}

const State::Known* State::Alive(RequestId id) const {
  const Known* known = Find(id);
  return known == nullptr || known->ended ? nullptr : known;
}

bool State::InFlight(RequestId id) const {
  return std::any_of(
      in_flight_.begin(), in_flight_.end(), [id](const StepPlan& plan) {
        return std::any_of(plan.scheduled.begin(), plan.scheduled.end(),
                           [id](const auto& work) { return work.id == id; });
      });
}

std::vector<int64_t> State::Tokens(RequestId id) const {
  const Known* known = Alive(id);
  if (known == nullptr) return {};
  std::vector<int64_t> tokens = known->keys->tokens();
  tokens.resize(
      static_cast<size_t>(known->num_prompt + naive_->NumOutputs(id)));
  return tokens;
}

std::vector<RequestId> State::Unfinished() const {
  std::vector<RequestId> ids;
  for (const Known& known : known_) {
    if (!known.ended) ids.push_back(known.id);
  }
  return ids;
}

std::vector<RequestId> State::Running() const {
  std::vector<RequestId> ids;
  for (const auto& tables : naive_->Inspect().running) ids.push_back(tables.id);
  return ids;
}

RequestParams State::Remember(RequestId id, std::vector<int64_t> tokens,
                              int64_t num_prompt, int64_t max_tokens) {
  while (static_cast<int64_t>(tokens.size()) < num_prompt + max_tokens) {
    tokens.push_back(OutputToken(id, static_cast<int64_t>(tokens.size())));
  }
  known_.push_back(
      {id, num_prompt, max_tokens,
       std::make_unique<TokenChain>(std::move(tokens), hash_unit_)});
  RequestParams params;
  params.id = id;
  params.num_prompt_tokens = num_prompt;
  params.max_tokens = max_tokens;
  params.keys = known_.back().keys.get();
  return params;
}

void State::End(RequestId id) {
  for (Known& known : known_) {
    if (known.id == id) known.ended = true;
  }
}

std::string State::Perform(const Operation& operation) {
  return std::visit([this](const auto& op) { return op.Perform(*this); },
                    operation);
}

std::string State::CompareAll() const {
  const AllocatorState state = naive_->Inspect();
  const EngineCounts counts = naive_->Counts();
  const LedgerSnapshot ledger = naive_->Ledger();
  if (!ledger.Balanced()) return "the recount does not balance";
  for (const auto& subject : subjects_) {
    std::string wrong = subject->CheckInvariants();
    if (wrong.empty()) wrong = StateDifference(subject->Inspect(), state);
    if (wrong.empty()) wrong = CountsDifference(subject->Counts(), counts);
    if (wrong.empty()) wrong = LedgerDifference(subject->Ledger(), ledger);
    for (int g = 0; g < naive_->NumGroups() && wrong.empty(); ++g) {
      wrong = LedgerDifference(subject->GroupLedger(g), naive_->GroupLedger(g));
    }
    if (wrong.empty()) wrong = RequestDifference(*subject);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

std::string State::RequestDifference(const Engine& subject) const {
  if (subject.HasUnfinished() != naive_->HasUnfinished()) return "unfinished";
  if (subject.CommonPrefixBlocks() != naive_->CommonPrefixBlocks()) {
    return "common prefix blocks";
  }
  for (const Known& request : known_) {
    if (subject.NumOutputs(request.id) != naive_->NumOutputs(request.id)) {
      return "outputs of request " + std::to_string(request.id);
    }
    for (int g = 0; g < naive_->NumGroups(); ++g) {
      const auto a = subject.BlockTable(request.id, g);
      const auto b = naive_->BlockTable(request.id, g);
      if (std::equal(a.begin(), a.end(), b.begin(), b.end())) continue;
      return "table of request " + std::to_string(request.id) + " in group " +
             std::to_string(g);
    }
  }
  return "";
}

// --- the operations -----------------------------------------------------------------

std::string Add::Perform(State& state) const {
  if (state.Find(id) != nullptr || prompt.empty()) return "";
  RequestParams params = state.Remember(
      id, prompt, static_cast<int64_t>(prompt.size()), max_tokens);
  params.priority = priority;
  params.arrival_ns = arrival_ns;
  const Engine::Admission expected = state.naive_->Add(params);
  if (expected == Engine::Admission::kTooLong) state.End(id);
  for (const auto& subject : state.subjects_) {
    if (subject->Add(params) != expected) return "answer of Add";
  }
  return state.CompareAll();
}

std::string Fork::Perform(State& state) const {
  const State::Known* from = state.Alive(parent);
  if (from == nullptr || state.Find(child) != nullptr ||
      state.InFlight(parent)) {
    return "";
  }
  const int64_t outputs = state.naive_->NumOutputs(parent);
  std::vector<int64_t> tokens = state.Tokens(parent);
  if (outputs > 0) tokens.pop_back();
  RequestParams params = state.Remember(child, std::move(tokens),
                                        from->num_prompt, outputs + more);
  params.priority = priority;
  params.arrival_ns = arrival_ns;
  const Engine::Forked expected = state.naive_->Fork(parent, params);
  for (const auto& subject : state.subjects_) {
    if (subject->Fork(parent, params) != expected) return "answer of Fork";
  }
  return state.CompareAll();
}

std::string Drop::Perform(State& state) const {
  if (state.Alive(id) == nullptr) return "";
  state.End(id);
  state.naive_->Drop(id);
  for (const auto& subject : state.subjects_) subject->Drop(id);
  return state.CompareAll();
}

std::string Schedule::Perform(State& state) const {
  if (!state.HasUnfinished() || state.num_in_flight() == state.depth()) {
    return "";
  }
  state.naive_->Schedule(&state.last_plan_);
  for (const auto& subject : state.subjects_) {
    subject->Schedule(&state.subject_plan_);
    const std::string difference =
        PlanDifference(state.subject_plan_, state.last_plan_);
    if (!difference.empty()) return difference;
  }
  state.in_flight_.push_back(state.last_plan_);
  return state.CompareAll();
}

std::vector<int32_t> State::Sampled(const StepPlan& plan, uint32_t dice) const {
  std::vector<int32_t> sampled;
  for (const ScheduledRequest& work : plan.scheduled) {
    const Known* request = Find(work.id);
    const int64_t left = request->max_tokens - naive_->NumOutputs(work.id);
    const int64_t drafts = work.num_drafts;
    const int64_t outputs = 1 + (dice + sampled.size()) % (drafts + 1);
    sampled.push_back(
        work.samples ? static_cast<int32_t>(std::min(outputs, left)) : 0);
  }
  return sampled;
}

std::string Complete::Perform(State& state) const {
  if (state.in_flight_.empty()) return "";
  const StepPlan plan = std::move(state.in_flight_.front());
  state.in_flight_.pop_front();
  const std::vector<int32_t> sampled = state.Sampled(plan, dice);
  std::vector<RequestId> expected;
  state.naive_->Complete(plan, sampled, &expected);
  for (RequestId id : expected) state.End(id);
  for (const auto& subject : state.subjects_) {
    std::vector<RequestId> finished;
    subject->Complete(plan, sampled, &finished);
    if (finished != expected) return "finished";
  }
  return state.CompareAll();
}

std::string AbortHead::Perform(State& state) const {
  if (state.Counts().waiting == 0) return "";
  const RequestId expected = state.naive_->AbortHead();
  state.End(expected);
  for (const auto& subject : state.subjects_) {
    if (subject->AbortHead() != expected) return "aborted head";
  }
  return state.CompareAll();
}

std::string RunProgram(const Program& program, const SubjectFactory& make) {
  State state(program, make);
  for (size_t i = 0; i < program.operations.size(); ++i) {
    const std::string difference = state.Perform(program.operations[i]);
    if (difference.empty()) continue;
    return "operation " + std::to_string(i) + ": " + difference;
  }
  return "";
}

// --- printing -----------------------------------------------------------------------

std::string Add::Code() const {
  std::ostringstream out;
  out << "Add{" << id << ", {";
  for (size_t i = 0; i < prompt.size(); ++i) {
    out << (i == 0 ? "" : ", ") << prompt[i];
  }
  out << "}, " << max_tokens << ", " << priority << ", " << arrival_ns << "}";
  return out.str();
}

std::string Fork::Code() const {
  std::ostringstream out;
  out << "Fork{" << parent << ", " << child << ", " << more << ", " << priority
      << ", " << arrival_ns << "}";
  return out.str();
}

std::string Drop::Code() const { return "Drop{" + std::to_string(id) + "}"; }

std::string Complete::Code() const {
  return "Complete{" + std::to_string(dice) + "}";
}

namespace {

// `.name = value`, where the value is not the default.
class Fields {
 public:
  template <typename T>
  Fields& Add(const char* name, T value, T standard) {
    if (value == standard) return *this;
    text_ += (text_.empty() ? "." : ", .") + std::string(name) + " = ";
    if constexpr (std::is_same_v<T, std::string>) {
      text_ += value;
    } else {
      text_ += std::to_string(value);
    }
    return *this;
  }
  std::string Code() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

std::string GeometryCode(const vllm::BlockGeometry& bytes) {
  const vllm::BlockGeometry plain;
  return Fields()
      .Add("row_bytes", bytes.row_bytes, plain.row_bytes)
      .Add("state_bytes", bytes.state_bytes, plain.state_bytes)
      .Add("page_padding", bytes.page_padding, plain.page_padding)
      .Add("slot_padding", bytes.slot_padding, plain.slot_padding)
      .Code();
}

std::string GroupCode(const vllm::CacheGroup& group) {
  const char* kinds[] = {"kFull", "kSlidingWindow", "kChunkedLocal",
                         "kRecurrent", "kCross"};
  const char* modes[] = {"kNone", "kAlign", "kAll"};
  const auto name = [](const char* type, const char* value) {
    return std::string(type) + "::" + value;
  };
  const vllm::CacheGroup plain;
  return Fields()
      .Add("kind",
           name("vllm::GroupKind", kinds[static_cast<size_t>(group.kind)]),
           name("vllm::GroupKind", kinds[0]))
      .Add("block_tokens", group.block_tokens, plain.block_tokens)
      .Add("window", group.window, plain.window)
      .Add("extra_window", group.extra_window, plain.extra_window)
      .Add("chunk", group.chunk, plain.chunk)
      .Add("encoder_tokens", group.encoder_tokens, plain.encoder_tokens)
      .Add("state_mode",
           name("StateMode", modes[static_cast<size_t>(group.state_mode)]),
           name("StateMode", modes[1]))
      .Add("geometry", GeometryCode(group.geometry), std::string("{}"))
      .Code();
}

}  // namespace

std::string Program::Code() const {
  const vllm::Settings defaults;
  std::ostringstream out;
  out.precision(17);
  out << "Program p;\n";
  const auto number = [&out](const char* name, auto value, auto standard) {
    if (value != standard)
      out << "p.settings." << name << " = " << value << ";\n";
  };
#define KVSIM_PRINT_(field)                           \
  number(#field, static_cast<double>(settings.field), \
         static_cast<double>(defaults.field))
  KVSIM_PRINT_(num_gpu_blocks);
  KVSIM_PRINT_(block_size);
  KVSIM_PRINT_(max_num_seqs);
  KVSIM_PRINT_(max_num_batched_tokens);
  KVSIM_PRINT_(max_model_len);
  KVSIM_PRINT_(enable_prefix_caching);
  KVSIM_PRINT_(enable_chunked_prefill);
  KVSIM_PRINT_(async_scheduling);
  KVSIM_PRINT_(watermark);
  KVSIM_PRINT_(long_prefill_token_threshold);
  KVSIM_PRINT_(num_speculative_tokens);
  KVSIM_PRINT_(reserve_full_sequence);
  KVSIM_PRINT_(pool_bytes);
  KVSIM_PRINT_(geometry.row_bytes);
  KVSIM_PRINT_(geometry.page_padding);
  KVSIM_PRINT_(geometry.slot_padding);
  KVSIM_PRINT_(window_admission_cap);
  KVSIM_PRINT_(sparse_keys);
  KVSIM_PRINT_(free_on_processed);
  KVSIM_PRINT_(partial_hits);
  KVSIM_PRINT_(max_tokens_in_flight);
  KVSIM_PRINT_(attention_balance);
  KVSIM_PRINT_(junctions);
  KVSIM_PRINT_(same_step_state_guard);
  KVSIM_PRINT_(realign_chunks);
  KVSIM_PRINT_(frees_every_old_state);
  KVSIM_PRINT_(host_blocks);
#undef KVSIM_PRINT_
  if (!settings.retention_interval.has_value()) {
    out << "p.settings.retention_interval = std::nullopt;\n";
  } else {
    number("retention_interval", *settings.retention_interval, 0);
  }
  if (settings.checkpoints.has_value()) {
    out << "p.settings.checkpoints = *vllm::ParseCheckpointPolicy(\""
        << settings.checkpoints->InWords() << "\");\n";
  }
  if (settings.prefix_match_unit.has_value()) {
    number("prefix_match_unit", *settings.prefix_match_unit, 0);
  }
  for (const vllm::CacheGroup& group : settings.groups) {
    out << "p.settings.groups.push_back(" << GroupCode(group) << ");\n";
  }
  if (settings.policy == vllm::SchedulingPolicy::kPriority) {
    out << "p.settings.policy = vllm::SchedulingPolicy::kPriority;\n";
  }
  if (settings.preemption_mode == vllm::PreemptionMode::kSwap) {
    out << "p.settings.preemption_mode = vllm::PreemptionMode::kSwap;\n";
  }
  if (settings.speculative_method == vllm::SpeculativeMethod::kNgram) {
    out << "p.settings.speculative_method = "
           "vllm::SpeculativeMethod::kNgram;\n";
  }
  if (settings.free_order != defaults.free_order) {
    out << "p.settings.free_order = static_cast<FreeOrder>("
        << static_cast<int>(settings.free_order) << ");\n";
  }
  if (depth != 2) out << "p.depth = " << depth << ";\n";
  out << "p.operations = {\n";
  for (const Operation& operation : operations) {
    out << "    "
        << std::visit([](const auto& op) { return op.Code(); }, operation)
        << ",\n";
  }
  out << "};\nEXPECT_EQ(RunProgram(p), \"\");\n";
  return out.str();
}

}  // namespace kvsim
