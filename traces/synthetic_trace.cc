#include "traces/synthetic_trace.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/random.h"
#include "base/units.h"
#include "traces/trace_limits.h"

namespace kvsim {
namespace {

constexpr double kSystemSigma = 0.5;
constexpr double kTurnSigma = 1.0;
constexpr double kOutputSigma = 0.8;
// Rows are planned before the first is given.
constexpr int64_t kMaxPlannedRows = 50'000'000;
constexpr int64_t kMaxMs = 1'000'000'000;  // a mean time: eleven days
// Later arrivals are moved here.
constexpr int64_t kLastArrivalMs = kMaxTraceTimeNs / 1'000'000;

int64_t Length(RandomStream& random, int64_t median, double sigma,
               int64_t max) {
  return std::clamp<int64_t>(random.LogNormal(median, sigma), 1, max);
}

int64_t ExponentialMs(RandomStream& random, int64_t mean_ms) {
  return random.ExponentialTime(Milliseconds(mean_ms)) / Milliseconds(1);
}

}  // namespace

absl::Status CheckSyntheticOptions(const SyntheticOptions& options) {
  struct Range {
    const char* flag;
    int64_t value;
    int64_t min;
    int64_t max;
  };
  constexpr int64_t kMaxMedian = int64_t{1} << 30;
  const Range ranges[] = {
      {"--sessions", options.sessions, 1, 10'000'000},
      {"--session-interval", options.session_interval_ms, 0, kMaxMs},
      {"--burst-sessions", options.burst_sessions, 1, 1'000'000},
      {"--burst-span", options.burst_span_ms, 0, kMaxMs},
      {"--system-prompts", options.system_prompts, 1, 100'000},
      {"--system-tokens", options.system_tokens, 1, kMaxMedian},
      {"--turns", options.turns, 1, 1'000'000},
      {"--turn-tokens", options.turn_tokens, 1, kMaxMedian},
      {"--output-tokens", options.output_tokens, 1, kMaxMedian},
      {"--think-time", options.think_ms, 0, kMaxMs},
      {"--max-input", options.max_input, 1, int64_t{1} << 31},
      {"--hash-block", options.hash_block, 1, int64_t{1} << 20},
      {"--prefill-us-per-token", options.prefill_us_per_token, 0, 1'000'000},
      {"--decode-us-per-token", options.decode_us_per_token, 0, 1'000'000},
  };
  for (const Range& range : ranges) {
    if (range.value >= range.min && range.value <= range.max) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(range.flag, ": found ", range.value,
                     "; accepted: ", range.min, " to ", range.max));
  }
  if (options.session_interval_ms > kMaxMs / options.burst_sessions) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--session-interval times --burst-sessions: found ",
        options.session_interval_ms, " ms times ", options.burst_sessions,
        "; accepted: at most ", kMaxMs, " ms"));
  }
  if (options.sessions > kMaxPlannedRows / options.turns) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--sessions times --turns: found ", options.sessions, " times ",
        options.turns, "; accepted: at most ", kMaxPlannedRows));
  }
  return absl::OkStatus();
}

SyntheticTrace::SyntheticTrace(const SyntheticOptions& options)
    : options_(options) {
  KVSIM_CHECK(CheckSyntheticOptions(options).ok());
  MakeSystemPrompts();
  MakeTurns();
}

void SyntheticTrace::MakeSystemPrompts() {
  RandomStream random(options_.seed, "system_prompts");
  system_ids_.resize(static_cast<size_t>(options_.system_prompts));
  for (int64_t i = 0; i < options_.system_prompts; ++i) {
    system_lengths_.push_back(Length(random, options_.system_tokens,
                                     kSystemSigma, options_.max_input));
  }
}

// When each session starts, ascending.
std::vector<int64_t> SyntheticTrace::StartTimes() {
  RandomStream random(options_.seed, "session_starts");
  const auto count = static_cast<size_t>(options_.sessions);
  const int64_t burst = options_.burst_sessions;
  std::vector<int64_t> starts;
  int64_t now_ms = 0;
  while (starts.size() < count) {
    now_ms += ExponentialMs(random, options_.session_interval_ms * burst);
    int64_t size = 1;
    if (burst > 1) size += random.Geometric(1.0 / static_cast<double>(burst));
    for (int64_t i = 0; i < size && starts.size() < count; ++i) {
      const bool alone = burst == 1;
      starts.push_back(now_ms +
                       (alone ? 0 : random.Between(0, options_.burst_span_ms)));
    }
  }
  std::sort(starts.begin(), starts.end());
  return starts;
}

// One stream per subject: changing one option leaves the other draws alone.
struct SyntheticTrace::Streams {
  explicit Streams(uint64_t seed)
      : prompts(seed, "system_prompt_choices"),
        turns(seed, "turns"),
        lengths(seed, "lengths"),
        thinking(seed, "think_times") {}

  RandomStream prompts;
  RandomStream turns;
  RandomStream lengths;
  RandomStream thinking;
};

void SyntheticTrace::MakeTurns() {
  Streams streams(options_.seed);
  std::vector<int64_t> weights;
  for (int64_t i = 0; i < options_.system_prompts; ++i) {
    weights.push_back(1'000'000 / (i + 1));
  }
  for (const int64_t start_ms : StartTimes()) {
    Session session;
    session.system_prompt =
        static_cast<int32_t>(streams.prompts.Weighted(weights));
    PlanTurns(start_ms, &streams, &session);
    sessions_.push_back(std::move(session));
  }
  std::stable_sort(
      turns_.begin(), turns_.end(),
      [](const Turn& a, const Turn& b) { return a.arrival_ms < b.arrival_ms; });
}

void SyntheticTrace::PlanTurns(int64_t start_ms, Streams* streams,
                               Session* session) {
  const double last_turn = 1.0 / static_cast<double>(options_.turns);
  const int64_t wanted = 1 + streams->turns.Geometric(last_turn);
  Turn turn{start_ms, 0, 0, 0, static_cast<int32_t>(sessions_.size()), 0};
  int64_t context = system_lengths_[session->system_prompt];
  for (int64_t i = 0; i < wanted; ++i) {
    const int64_t added = Length(streams->lengths, options_.turn_tokens,
                                 kTurnSigma, options_.max_input);
    const bool fits = context + added <= options_.max_input;
    if (!fits && i > 0) break;
    turn.turn = static_cast<int32_t>(i);
    turn.input_length = fits ? context + added : options_.max_input;
    turn.output_length = Length(streams->lengths, options_.output_tokens,
                                kOutputSigma, options_.max_input);
    turn.arrival_ms = std::min(turn.arrival_ms, kLastArrivalMs);
    turns_.push_back(turn);
    ++session->turns_left;
    context = turn.input_length + turn.output_length;
    turn.think_ms = ExponentialMs(streams->thinking, options_.think_ms);
    turn.arrival_ms += (added * options_.prefill_us_per_token +
                        turn.output_length * options_.decode_us_per_token) /
                           1000 +
                       turn.think_ms;
  }
}

bool SyntheticTrace::Next(TraceRequest* row) {
  if (next_turn_ == turns_.size()) return false;
  const Turn& turn = turns_[next_turn_];
  Session& session = sessions_[turn.session];
  row->id = static_cast<int64_t>(next_turn_++);
  row->arrival_ns = Milliseconds(turn.arrival_ms).value();
  row->input_length = turn.input_length;
  row->output_length = turn.output_length;
  row->priority = 0;
  row->hash_block = options_.hash_block;
  row->scope = 0;
  row->session = has_sessions() ? turn.session : -1;
  row->turn = turn.turn;
  row->previous = session.last_row;
  row->think_time_ns = Milliseconds(turn.think_ms).value();
  session.last_row = row->id;
  NameBlocks(turn.input_length, &session, row);
  if (--session.turns_left == 0) session.ids = std::vector<uint64_t>();
  return true;
}

void SyntheticTrace::NameBlocks(int64_t input_length, Session* session,
                                TraceRequest* row) {
  const int64_t block = options_.hash_block;
  const auto full = static_cast<size_t>(input_length / block);
  std::vector<uint64_t>& system_ids = system_ids_[session->system_prompt];
  const auto system_full = std::min(
      full,
      static_cast<size_t>(system_lengths_[session->system_prompt] / block));
  while (session->ids.size() < full) {
    const size_t i = session->ids.size();
    if (i < system_full) {
      if (i == system_ids.size()) system_ids.push_back(next_id_++);
      session->ids.push_back(system_ids[i]);
    } else {
      session->ids.push_back(next_id_++);
    }
  }
  row->hash_ids = session->ids;
  if (input_length % block != 0) row->hash_ids.push_back(next_id_++);
}

}  // namespace kvsim
