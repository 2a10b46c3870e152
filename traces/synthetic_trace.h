// A made-up workload: agents that talk to a model in turns.
//
// Model:      sessions start as a Poisson process, one by one or in bursts.
//             Each begins with one of a few system prompts (the k-th with
//             weight 1 / k) and adds new tokens every turn; the next turn's
//             prompt is the whole conversation so far, output included, until
//             the session has had its turns or its prompt would pass max_input.
//             With turns = 1 it is a plain stream of requests. A turn's prompt
//             blocks have ids as in Mooncake files: the system prompt's whole
//             blocks are shared by all who use it, other whole blocks by the
//             later turns of the session, the partial last block by nobody.
// Lengths:    log-normal around their medians, at least 1. Turns: 1 +
//             geometric.
// Times:      whole milliseconds. A turn arrives, in the open loop, an
//             exponential think time after an estimate of the end of the one
//             before: prefill_us_per_token per new prompt token,
//             decode_us_per_token per output token.
// Determinism: equal options give equal rows on every machine; ids are dense in
//             order of appearance.
// Costs:      56 bytes per row ahead of time; 8 per block of every open
//             session.
#ifndef KVSIM_TRACES_SYNTHETIC_TRACE_H_
#define KVSIM_TRACES_SYNTHETIC_TRACE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "traces/trace_request.h"

namespace kvsim {

struct SyntheticOptions {
  uint64_t seed = 1;
  int64_t sessions = 100;
  int64_t session_interval_ms = 1000;  // mean, between session starts
  int64_t burst_sessions = 1;          // mean per burst; 1: no bursts
  int64_t burst_span_ms = 1000;        // a burst's sessions start within this

  int64_t system_prompts = 4;
  int64_t system_tokens = 2000;  // median

  int64_t turns = 8;            // mean per session
  int64_t turn_tokens = 500;    // median of new tokens per turn, prompt side
  int64_t output_tokens = 200;  // median
  int64_t think_ms = 5000;      // mean
  int64_t max_input = 131072;

  int64_t hash_block = 512;
  int64_t prefill_us_per_token = 50;
  int64_t decode_us_per_token = 20000;
};

// Names the first option that is out of range, its value and what is accepted.
absl::Status CheckSyntheticOptions(const SyntheticOptions& options);

class SyntheticTrace {
 public:
  // REQUIRES: CheckSyntheticOptions(options) is OK.
  explicit SyntheticTrace(const SyntheticOptions& options);

  // False when all rows were given.
  bool Next(TraceRequest* row);

  bool has_sessions() const { return options_.turns > 1; }

 private:
  struct Turn {
    int64_t arrival_ms;
    int64_t think_ms;
    int64_t input_length;
    int64_t output_length;
    int32_t session;
    int32_t turn;
  };
  struct Session {
    int32_t system_prompt = 0;
    int64_t last_row = -1;
    int64_t turns_left = 0;
    std::vector<uint64_t> ids;  // of the whole blocks so far
  };

  struct Streams;

  std::vector<int64_t> StartTimes();
  void MakeSystemPrompts();
  void MakeTurns();
  void PlanTurns(int64_t start_ms, Streams* streams, Session* session);
  void NameBlocks(int64_t input_length, Session* session, TraceRequest* row);

  SyntheticOptions options_;
  std::vector<int64_t> system_lengths_;
  std::vector<std::vector<uint64_t>> system_ids_;  // named so far
  std::vector<Session> sessions_;
  std::vector<Turn> turns_;  // by arrival
  size_t next_turn_ = 0;
  uint64_t next_id_ = 0;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_SYNTHETIC_TRACE_H_
