// One request's life in a replay: what it hit and missed and why, where it waited,
// who preempted it.
//
// Model:      a life is a list of residencies. Each begins with waiting, is admitted
//             with some hit, runs chunks and decode steps, and ends with a preemption
//             or with the life. Waiting is divided by its cause: stretches meet, the
//             first begins when the request is due, the last ends at the step that
//             admits it. A step that does not admit it counts as a whole, by the
//             reason the engine gave: its own when it was the head of the queue,
//             else the head's.
// Invariants: (1) the stretches of the first residency sum to the waiting time of
//                 sim/request_metrics.h;
//             (2) what Explain'd parts and hits sum to: sim/hit_explanation.h.
// Memory:     the keys of this request (sim/prefix_watch.h) and a number for each
//             request that arrives.
// Costs:      one more look-up of every admission; a table's entries per step while
//             the request runs.
// Ownership:  a listener of one engine and an observer of one simulation, both from
//             their first step on.
#ifndef KVSIM_SIM_REQUEST_STORY_H_
#define KVSIM_SIM_REQUEST_STORY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/cache_listener.h"
#include "engines/engine.h"
#include "sim/hit_explanation.h"
#include "sim/prefix_watch.h"
#include "sim/step_observer.h"
#include "traces/request_tokens.h"

namespace kvsim {

struct WaitStretch {
  enum class Place : uint8_t {
    kBetweenSteps,  // it came while a step ran
    kHead,          // it was looked at and refused
    kBehind,        // another was refused first
  };
  int64_t begin_ns = 0, end_ns = 0;
  int64_t first_step = 0, steps = 0;
  Place place = Place::kHead;
  AdmissionLimit limit = AdmissionLimit::kNoneWaiting;
  // Behind: who was refused in the first of these steps and in the last.
  RequestId first_head = -1, last_head = -1;
  // Of the refused request, with kGate and kBlocks.
  int64_t first_needed = 0, first_free = 0;
  int64_t last_needed = 0, last_free = 0;
};

// Tokens of the request in one step before it decodes.
struct PrefillChunk {
  enum class End : uint8_t {
    kComplete,       // nothing was left to compute
    kThreshold,      // --long-prefill-token-threshold
    kBudget,         // the step was full
    kStateBoundary,  // cut where a recurrent state shall stand
  };
  int64_t step = 0, start_ns = 0;
  int64_t first_token = 0, num_tokens = 0;
  End end = End::kComplete;
};
const char* ChunkEndName(PrefillChunk::End end);

struct StoryPreemption {
  int64_t step = 0, time_ns = 0;
  RequestId by = 0;             // who needed blocks; itself at times
  int64_t computed_tokens = 0;  // lost, unless hits bring them back ...
  int64_t in_flight = 0;        // ... of which no results had come back
  bool swapped = false;         // to host memory: nothing is lost
  int64_t needed_blocks = 0, free_blocks = 0;
};

struct Residency {
  std::vector<WaitStretch> waits;
  bool admitted = false;
  int64_t admitted_step = 0, admitted_ns = 0;
  bool swapped_in = false;  // came back from host memory: no look-up
  int64_t known_tokens = 0, computed_tokens = 0;  // at its admission
  HitExplanation hit;                             // unless it was swapped in
  std::vector<PrefillChunk> chunks;
  int64_t decode_steps = 0;
  std::optional<StoryPreemption> preempted;
};

// What one group held for the request at its peak over all groups.
struct GroupHolding {
  int64_t blocks = 0;      // null entries not counted
  int64_t empty_rows = 0;  // slots behind the last token, in those blocks
};

struct Story {
  enum class End : uint8_t {
    kUnfinished,  // the run was interrupted
    kFinished,
    kTooLong,   // refused on arrival
    kNeverFit,  // dropped at the head of an empty engine
  };
  static constexpr int64_t kNotYet = -1;

  RequestId id = 0;
  bool arrived = false;
  int64_t due_ns = 0;
  int64_t prompt_tokens = 0;
  int64_t max_tokens = 0;  // outputs it will give
  std::vector<Residency> residencies;
  int64_t outputs = 0;
  int64_t first_output_ns = kNotYet;
  int64_t end_ns = kNotYet;
  End end = End::kUnfinished;

  int64_t peak_blocks = 0, peak_step = 0, peak_ns = 0;
  std::vector<GroupHolding> peak;  // by group
};
const char* StoryEndName(Story::End end);

// Whose life it is, and what the engine's flags are.
struct StoryQuestion {
  RequestId id = 0;
  std::shared_ptr<const RequestTokens> tokens;
  int64_t max_tokens = 1;
  int64_t key_tokens = 16;  // per key of the engine's chains
  int64_t hit_unit = 16;    // hits are multiples of it
  int64_t max_num_batched_tokens = 0;
  int64_t long_prefill_token_threshold = 0;  // 0: none
  std::vector<int64_t> group_block_tokens;   // 0: its blocks hold no rows
};

class RequestStory final : public StepObserver, public CacheListener {
 public:
  explicit RequestStory(const StoryQuestion& question);

  const Story& story() const { return story_; }

  void OnArrival(const ArrivalRecord& arrival) override;
  void OnStepStart(int64_t step, int64_t now_ns, const Engine& engine) override;
  void OnSchedule(const StepPlan& plan, const Engine& engine) override;
  void OnStep(const StepRecord& record, const Engine& engine) override;

  void OnKeyed(RequestId by, int group, uint64_t key) override;
  void OnEvicted(RequestId by, int group, uint64_t key) override;
  void OnAdmitted(const AdmissionNote& note) override;
  void OnSwappedIn(const SwapInNote& note) override;
  void OnRefused(const RefusalNote& note) override;
  void OnPreempted(const PreemptionNote& note) override;

 private:
  bool Alive() const {
    return story_.arrived && story_.end == Story::End::kUnfinished;
  }
  Residency& Current() { return story_.residencies.back(); }
  bool Waits() const { return Alive() && !story_.residencies.back().admitted; }
  void NoteSharer(const ArrivalRecord& arrival);
  SharedBefore Shared() const;
  void NoteWait(const StepRecord& record);
  void NoteWork(const ScheduledRequest& work, const StepPlan& plan);
  void NoteHolding(const Engine& engine);
  void NoteOutputs(const StepRecord& record);
  void EndLife(Story::End end, int64_t time_ns);

  const StoryQuestion question_;
  PrefixWatch watch_;
  Story story_;
  const Engine* engine_ = nullptr;
  int64_t step_ = 0, now_ns_ = 0;
  std::vector<int64_t> shared_;  // by request: tokens in common with this one
  int64_t longest_shared_ = 0, computed_shared_ = 0;
  RequestId sharer_ = -1;
  int64_t scheduled_end_ = 0;  // of its own tokens, in this residency
  // Of this step.
  std::optional<RefusalNote> refused_;        // it
  std::optional<RefusalNote> other_refused_;  // the head before it
};

}  // namespace kvsim

#endif  // KVSIM_SIM_REQUEST_STORY_H_
