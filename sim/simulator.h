// The loop that drives one engine through a trace.
//
// Model:      before each step every row whose time has come is queued, in trace
//             order; a step schedules one batch, completes one, and advances the
//             clock by that batch's cost. When nothing is unfinished the clock
//             jumps to the next arrival. An asynchronous engine has two batches
//             in flight: the older one is completed when the queue holds two,
//             when a batch came out empty, or when nothing is left to schedule.
// Outputs:    a scheduled request samples one token unless its chunk is not the
//             last of the prompt. With k drafts, the accepted ones are
//             min(drafts, ((n·2654435761 mod 2^32) >> 16) mod (k+1)) where n is
//             the number of outputs recorded when the step was scheduled. The
//             engine never sees an output before it happens.
// Sequences:  a row may become several (Sequences): samples fork from the first one
//             when its prompt is computed and its first token sampled; beams
//             do so too, and after every step with an output of a row one of its beams
//             that gave one goes on twice and one is dropped, both drawn at
//             random (nothing happens when it is the same). Each sequence has its own
//             tokens from the fork on. Without forks the samples of a row are
//             requests with one prompt, as in vLLM V1: what they share is a matter of
//             the prefix cache. A row ends with the last of its sequences.
//             Not for asynchronous engines.
// Units:      int64 nanoseconds of model time.
// Ownership:  keeps pointers to engine, cost model and observers.
// Errors:     what the reader and the cost model report; a step that can never
//             end is a check failure.
// Determinism: equal inputs give equal calls to every observer.
// Source:     EngineCore.step and step_with_batch_queue, v1/engine/
//             parallel_sampling.py (vLLM, 2026-08-17); Kwon et al. 2023, 4.4.
#ifndef KVSIM_SIM_SIMULATOR_H_
#define KVSIM_SIM_SIMULATOR_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "engines/engine.h"
#include "sim/cost_model.h"
#include "sim/host_link.h"
#include "sim/sequences.h"
#include "sim/step_observer.h"
#include "traces/request_keys.h"
#include "traces/token_stream.h"
#include "traces/trace_options.h"
#include "traces/trace_reader.h"

namespace kvsim {

struct SimulatorOptions {
  int64_t block_tokens = 16;  // of the engine's hash blocks
  int64_t max_model_len = 131072;
  bool asynchronous = false;
  int64_t num_speculative_tokens = 0;
  // kAfterPrevious reads the whole trace before it starts: a turn's recorded
  // time does not bound when a faster server lets it start.
  Arrivals arrivals = Arrivals::kTimestamps;
  TokenStreamOptions tokens;
  HostLink host_link;  // what swaps add to the time of their step
  Sequences sequences;
};

class Simulator {
 public:
  Simulator(Engine* engine, CostModel* cost, const SimulatorOptions& options);

  void AddObserver(StepObserver* observer) { observers_.push_back(observer); }

  // Runs until every row is served or dropped, or `stop` (polled each step)
  // turns true.
  absl::Status Run(TraceReader* trace, const bool* stop = nullptr);

  int64_t now_ns() const { return now_ns_; }
  int64_t steps() const { return steps_; }
  const TokenStream& tokens() const { return tokens_; }

 private:
  // A request in the engine: what it says and how long it goes on.
  struct Live {
    std::shared_ptr<const RequestTokens> tokens;
    std::optional<RequestKeys> keys;
    RequestParams params;
  };
  // The sequences of a row.
  struct Family {
    int64_t open = 0;                   // have not ended
    int64_t names = 0;                  // given to tokens of forks
    bool has_forked = false;            // into `width`
    std::optional<RandomStream> draws;  // of beams
    std::vector<RequestId> sampled;     // in this step
  };
  struct Waiting {  // read, not yet arrived
    int64_t time_ns;
    TraceRequest row;
    // Known from reading on: a later row may arrive before this one.
    std::shared_ptr<const RequestTokens> tokens;
    bool operator>(const Waiting& other) const {
      return time_ns != other.time_ns ? time_ns > other.time_ns
                                      : row.id > other.row.id;
    }
  };

  absl::Status ReadAhead(TraceReader* trace);
  void Place(TraceRequest row);
  absl::Status QueueArrivals(TraceReader* trace);
  void Queue(const Waiting& next);
  bool QueueSequence(const Waiting& next, int64_t k);
  void EndSequence(RequestId id);
  void EndRow(int64_t row);
  int64_t width() const { return options_.sequences.width; }
  int64_t RowOf(RequestId id) const { return id / width(); }
  Family& FamilyOf(RequestId id) {
    return families_[static_cast<size_t>(RowOf(id))];
  }

  void Step();
  void CompleteOldest(StepRecord* record);
  void Branch(const StepPlan& batch);
  void DrawBeams(Family* family);
  void Fork(RequestId parent, RequestId child);
  uint64_t NewName(RequestId id);
  void AbortIfStuck(StepRecord* record);
  void AbortIfCircling(StepRecord* record);
  void DropHead();
  int32_t SampledTokens(const ScheduledRequest& work) const;
  std::unique_ptr<StepPlan> NewPlan();
  bool InFlight() const { return !in_flight_.empty(); }

  Engine* const engine_;
  CostModel* const cost_;
  const SimulatorOptions options_;
  std::vector<StepObserver*> observers_;
  TokenStream tokens_;

  int64_t now_ns_ = 0;
  int64_t steps_ = 0;
  bool exhausted_ = false;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<Waiting>>
      upcoming_;
  // By id: rows that wait for this one to end, and when it ended.
  std::vector<std::vector<Waiting>> successors_;
  std::vector<int64_t> ended_ns_;
  std::vector<std::unique_ptr<Live>> live_;  // by id of the sequence
  std::vector<Family> families_;             // by row

  std::deque<std::unique_ptr<StepPlan>> in_flight_;
  std::vector<std::unique_ptr<StepPlan>> spare_plans_;
  std::vector<RequestId> arrived_, finished_, aborted_, dropped_;
  std::vector<ForkRecord> forks_;
  std::vector<int32_t> sampled_;
  // The last request that gave up its blocks although it ran alone, and how many
  // outputs it had then.
  RequestId circling_ = -1;
  int64_t circling_outputs_ = 0;
};

}  // namespace kvsim

#endif  // KVSIM_SIM_SIMULATOR_H_
