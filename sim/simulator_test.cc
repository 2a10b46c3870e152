#include "sim/simulator.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engines/vllm/engine.h"
#include "sim/fixed_cost.h"
#include "sim/vector_trace_reader.h"

namespace kvsim {
namespace {

using Ids = std::vector<RequestId>;

constexpr int64_t kStepNs = 1000;

TraceRequest Row(int64_t arrival_ns, int64_t input, int64_t output) {
  TraceRequest row;
  row.arrival_ns = arrival_ns;
  row.input_length = input;
  row.output_length = output;
  return row;
}

// The next turn of `previous`, think_time after its end.
TraceRequest Turn(int64_t previous, int64_t think_time_ns, int64_t arrival_ns) {
  TraceRequest row = Row(arrival_ns, 4, 1);
  row.previous = previous;
  row.think_time_ns = think_time_ns;
  return row;
}

// Keeps copies of what the simulator tells.
class Diary final : public StepObserver {
 public:
  struct Step {
    int64_t start_ns, end_ns;
    bool scheduled;
    int64_t tokens;     // of the plan; 0 when nothing was scheduled
    int64_t processed;  // tokens of the processed batch; -1: none was
    Ids arrived, finished, aborted;
    std::vector<int32_t> num_sampled;
  };
  struct Arrival {
    RequestId id;
    int64_t due_ns, time_ns, max_tokens;
    bool queued;
  };

  void OnArrival(const ArrivalRecord& r) override {
    arrivals.push_back({r.id, r.due_ns, r.time_ns, r.max_tokens, r.queued});
  }
  void OnStep(const StepRecord& r, const Engine&) override {
    steps.push_back({r.start_ns,
                     r.end_ns,
                     r.scheduled,
                     r.plan == nullptr ? 0 : r.plan->total_tokens,
                     r.processed == nullptr ? -1 : r.processed->total_tokens,
                     {r.arrived.begin(), r.arrived.end()},
                     {r.finished.begin(), r.finished.end()},
                     {r.aborted.begin(), r.aborted.end()},
                     {r.num_sampled.begin(), r.num_sampled.end()}});
  }
  int64_t DueNs(RequestId id) const {
    for (const Arrival& a : arrivals) {
      if (a.id == id) return a.due_ns;
    }
    return -1;
  }

  std::vector<Step> steps;
  std::vector<Arrival> arrivals;
};

class SimulatorTest : public ::testing::Test {
 protected:
  SimulatorTest() {
    settings_.num_gpu_blocks = 100;
    settings_.block_size = 4;
    settings_.max_model_len = 200;
  }
  // Runs to the end, each step that processes a batch taking 1000 ns.
  Diary Run(std::vector<TraceRequest> rows,
            Arrivals arrivals = Arrivals::kTimestamps) {
    auto engine = vllm::VllmEngine::Create(settings_);
    EXPECT_TRUE(engine.ok()) << engine.status();
    SimulatorOptions options;
    options.block_tokens = settings_.block_size;
    options.max_model_len = settings_.max_model_len;
    options.asynchronous = settings_.async_scheduling;
    options.num_speculative_tokens = settings_.num_speculative_tokens;
    options.arrivals = arrivals;
    FixedCost cost(kStepNs);
    Simulator simulator(engine->get(), &cost, options);
    Diary diary;
    simulator.AddObserver(&diary);
    VectorTraceReader trace(std::move(rows));
    EXPECT_TRUE(simulator.Run(&trace).ok());
    EXPECT_EQ(simulator.steps(), static_cast<int64_t>(diary.steps.size()));
    EXPECT_EQ((*engine)->CheckInvariants(), "");
    EXPECT_EQ((*engine)->Counts().free_blocks, settings_.num_gpu_blocks - 1);
    return diary;
  }

  vllm::Settings settings_;
};

// --- arrivals ----------------------------------------------------------------------

TEST_F(SimulatorTest, RowsOfEqualTimeArriveInTraceOrderBeforeOneStep) {
  const Diary diary = Run({Row(0, 4, 1), Row(0, 4, 1), Row(0, 4, 1)});
  ASSERT_EQ(diary.steps.size(), 1u);
  EXPECT_EQ(diary.steps[0].arrived, (Ids{0, 1, 2}));
  EXPECT_EQ(diary.steps[0].finished, (Ids{0, 1, 2}));
}

TEST_F(SimulatorTest, TheClockJumpsToTheNextArrivalWhenNothingIsUnfinished) {
  const Diary diary = Run({Row(50, 4, 1), Row(5000, 4, 1)});
  ASSERT_EQ(diary.steps.size(), 2u);  // no step is spent on waiting
  EXPECT_EQ(diary.steps[0].start_ns, 50);
  EXPECT_EQ(diary.steps[0].end_ns, 1050);
  EXPECT_EQ(diary.steps[1].start_ns, 5000);
}

// Two outputs: steps at 0 and 1000. A row due at 1000 still joins the second
// step, one due at 1001 waits for the third.
TEST_F(SimulatorTest,
       ARowIsQueuedBeforeTheFirstStepThatStartsAtItsTimeOrLater) {
  const Diary diary = Run({Row(0, 4, 3), Row(1000, 4, 1), Row(1001, 4, 1)});
  ASSERT_EQ(diary.steps.size(), 3u);
  EXPECT_EQ(diary.steps[1].arrived, Ids{1});
  EXPECT_EQ(diary.steps[2].arrived, Ids{2});
  EXPECT_EQ(diary.arrivals[2].due_ns, 1001);
  EXPECT_EQ(diary.arrivals[2].time_ns, 2000);
}

// max_model_len is 200: a prompt of 200 is refused, one of 199 leaves a token.
TEST_F(SimulatorTest, PromptsAsLongAsTheModelAllowsAreRejected) {
  const Diary diary = Run({Row(0, 200, 5), Row(0, 199, 5)});
  ASSERT_EQ(diary.arrivals.size(), 2u);
  EXPECT_FALSE(diary.arrivals[0].queued);
  EXPECT_TRUE(diary.arrivals[1].queued);
  EXPECT_EQ(diary.arrivals[1].max_tokens, 1);
  EXPECT_EQ(diary.steps[0].arrived, Ids{1});
}

TEST_F(SimulatorTest, ARowWithoutOutputGivesOneToken) {
  const Diary diary = Run({Row(0, 4, 0)});
  EXPECT_EQ(diary.arrivals[0].max_tokens, 1);
  EXPECT_EQ(diary.steps[0].num_sampled, std::vector<int32_t>{1});
}

TEST_F(SimulatorTest, ATraceOfRejectedRowsTakesNoStep) {
  EXPECT_TRUE(Run({Row(0, 500, 1)}).steps.empty());
  EXPECT_TRUE(Run({}).steps.empty());
}

// --- closed loop ----------------------------------------------------------------------

// Row 0 ends at 1000, after one step; row 1 comes 300 later whatever its
// recorded time says, and ends at 2300; row 2 comes 50 after that.
TEST_F(SimulatorTest, ATurnComesItsThinkTimeAfterTheEndOfTheOneBefore) {
  const Diary diary = Run({Row(0, 4, 1), Turn(0, 300, 9000), Turn(1, 50, 9000)},
                          Arrivals::kAfterPrevious);
  EXPECT_EQ(diary.DueNs(1), 1300);
  EXPECT_EQ(diary.DueNs(2), 2350);
}

TEST_F(SimulatorTest, RecordedTimesRuleInAnOpenLoop) {
  const Diary diary = Run({Row(0, 4, 1), Turn(0, 300, 9000)});
  EXPECT_EQ(diary.DueNs(1), 9000);
}

// Row 2 starts another conversation and comes before row 1, which is read
// earlier but thinks until 6000.
TEST_F(SimulatorTest, ALaterRowMayComeBeforeATurnThatStillThinks) {
  const Diary diary = Run({Row(0, 4, 1), Turn(0, 5000, 100), Row(500, 4, 1)},
                          Arrivals::kAfterPrevious);
  ASSERT_EQ(diary.arrivals.size(), 3u);
  EXPECT_EQ(diary.arrivals[1].id, 2);
  EXPECT_EQ(diary.arrivals[2].id, 1);
  EXPECT_EQ(diary.DueNs(1), 6000);
}

// A turn that was refused ends at once; those behind it go on.
TEST_F(SimulatorTest, ATurnFollowsARejectedOne) {
  const Diary diary =
      Run({Row(70, 500, 1), Turn(0, 30, 0)}, Arrivals::kAfterPrevious);
  EXPECT_FALSE(diary.arrivals[0].queued);
  EXPECT_EQ(diary.DueNs(1), 100);
}

// --- asynchronous -----------------------------------------------------------------------

// Four prompt tokens, two outputs. Step 0 schedules the prompt and processes
// nothing. Step 1 schedules the second output and processes the prompt. Step 2
// has nothing to schedule, as the request is sure to stop: its empty batch is
// queued and the second output processed. Step 3 only drains the empty batch,
// which takes no time.
TEST_F(SimulatorTest, AnAsynchronousRunProcessesOneBatchBehindAndDrains) {
  settings_.async_scheduling = true;
  const Diary diary = Run({Row(0, 4, 2)});
  ASSERT_EQ(diary.steps.size(), 4u);
  EXPECT_EQ(diary.steps[0].tokens, 4);
  EXPECT_EQ(diary.steps[0].processed, -1);
  EXPECT_EQ(diary.steps[0].end_ns, 0);
  EXPECT_EQ(diary.steps[1].tokens, 1);
  EXPECT_EQ(diary.steps[1].processed, 4);
  EXPECT_EQ(diary.steps[1].end_ns, 1000);
  EXPECT_TRUE(diary.steps[2].scheduled);
  EXPECT_EQ(diary.steps[2].tokens, 0);
  EXPECT_EQ(diary.steps[2].processed, 1);
  EXPECT_EQ(diary.steps[2].finished, Ids{0});
  EXPECT_EQ(diary.steps[2].end_ns, 2000);
  EXPECT_FALSE(diary.steps[3].scheduled);
  EXPECT_EQ(diary.steps[3].processed, 0);
  EXPECT_EQ(diary.steps[3].end_ns, 2000);
}

// --- heads that never fit -----------------------------------------------------------------

// 40 tokens need 10 blocks; there are 3. The row behind it is served.
TEST_F(SimulatorTest, AHeadThatCanNeverFitIsAborted) {
  settings_.num_gpu_blocks = 4;
  const Diary diary = Run({Row(0, 40, 1), Row(0, 4, 1)});
  ASSERT_EQ(diary.steps.size(), 2u);
  EXPECT_EQ(diary.steps[0].aborted, Ids{0});
  EXPECT_EQ(diary.steps[0].end_ns, 0);  // nothing ran
  EXPECT_EQ(diary.steps[1].finished, Ids{1});
}

TEST_F(SimulatorTest, AHeadIsNotAbortedWhileSomethingRuns) {
  settings_.num_gpu_blocks = 4;
  const Diary diary = Run({Row(0, 4, 3), Row(0, 40, 1)});
  ASSERT_EQ(diary.steps.size(), 4u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(diary.steps[i].aborted, Ids{});
  EXPECT_EQ(diary.steps[3].aborted, Ids{1});
}

// Behind work in flight the queue never runs empty, as every empty batch is
// queued too: the head is dropped all the same.
TEST_F(SimulatorTest, AHeadThatCanNeverFitEndsAnAsynchronousRun) {
  settings_.num_gpu_blocks = 4;
  settings_.async_scheduling = true;
  const Diary diary = Run({Row(0, 4, 1), Row(0, 40, 1), Row(0, 4, 1)});
  Ids aborted, finished;
  for (const Diary::Step& step : diary.steps) {
    aborted.insert(aborted.end(), step.aborted.begin(), step.aborted.end());
    finished.insert(finished.end(), step.finished.begin(), step.finished.end());
  }
  EXPECT_EQ(aborted, Ids{1});
  EXPECT_EQ(finished, (Ids{0, 2}));
}

// Without the gate a prompt of 10 blocks is let into a pool of 3, preempts itself
// at its fourth, and would begin again for ever. So would a prompt of 3 blocks with
// 3 lookahead slots behind it, which the gate does not count.
TEST_F(SimulatorTest, ARequestLongerThanThePoolEndsTheRun) {
  settings_.num_gpu_blocks = 4;
  settings_.max_num_batched_tokens = 4;
  for (const bool asynchronous : {false, true}) {
    for (const bool lookahead : {false, true}) {
      settings_.async_scheduling = asynchronous;
      settings_.reserve_full_sequence = lookahead;
      settings_.num_speculative_tokens = lookahead ? 3 : 0;
      const int64_t prompt = lookahead ? 12 : 40;
      const Diary diary = Run({Row(0, prompt, 1), Row(0, 4, 1)});
      Ids aborted, finished;
      for (const Diary::Step& step : diary.steps) {
        aborted.insert(aborted.end(), step.aborted.begin(), step.aborted.end());
        finished.insert(finished.end(), step.finished.begin(),
                        step.finished.end());
      }
      EXPECT_EQ(aborted, Ids{0}) << asynchronous << lookahead;
      EXPECT_EQ(finished, Ids{1}) << asynchronous << lookahead;
    }
  }
}

TEST_F(SimulatorTest, ATurnFollowsAnAbortedOne) {
  settings_.num_gpu_blocks = 4;
  const Diary diary =
      Run({Row(0, 40, 1), Turn(0, 30, 0)}, Arrivals::kAfterPrevious);
  EXPECT_EQ(diary.steps[0].aborted, Ids{0});
  EXPECT_EQ(diary.DueNs(1), 30);
}

// --- sampling ------------------------------------------------------------------------------

// A budget of 3 cuts a prompt of 7 into 3, 3, 1: only the last chunk samples.
TEST_F(SimulatorTest, OnlyTheLastChunkOfAPromptSamples) {
  settings_.max_num_batched_tokens = 3;
  const Diary diary = Run({Row(0, 7, 1)});
  ASSERT_EQ(diary.steps.size(), 3u);
  EXPECT_EQ(diary.steps[0].num_sampled, std::vector<int32_t>{0});
  EXPECT_EQ(diary.steps[1].num_sampled, std::vector<int32_t>{0});
  EXPECT_EQ(diary.steps[2].num_sampled, std::vector<int32_t>{1});
}

// Three drafts. With n outputs, ((n · 2654435761 mod 2^32) >> 16) mod 4 of them
// are accepted, and 2654435761 = 0x9E3779B1:
//   n = 0: the prompt, no drafts                                1 sampled
//   n = 1: 0x9E3779B1, high half 0x9E37 = 40503, mod 4 = 3      4 sampled
//   n = 5: 0x17156075, high half 0x1715 =  5909, mod 4 = 1      2 sampled
//   n = 7: 0x53845..., high half 0x5384 = 21380, mod 4 = 0      1 sampled
//   n = 8: 0xF1BBCD88, high half 0xF1BB = 61883, mod 4 = 3      4, cut at the
//          tenth output to 2
TEST_F(SimulatorTest, AcceptsDraftsByTheRecordersFormula) {
  settings_.num_speculative_tokens = 3;
  const Diary diary = Run({Row(0, 4, 10)});
  std::vector<int32_t> sampled;
  for (const Diary::Step& step : diary.steps) {
    ASSERT_EQ(step.num_sampled.size(), 1u);
    sampled.push_back(step.num_sampled[0]);
  }
  EXPECT_EQ(sampled, (std::vector<int32_t>{1, 4, 2, 1, 2}));
}

// --- ends ------------------------------------------------------------------------------------

TEST_F(SimulatorTest, StopsWhenToldTo) {
  auto engine = vllm::VllmEngine::Create(settings_);
  FixedCost cost(kStepNs);
  Simulator simulator(engine->get(), &cost, {});
  VectorTraceReader trace({Row(0, 4, 100)});
  const bool stop = true;
  EXPECT_TRUE(simulator.Run(&trace, &stop).ok());
  EXPECT_EQ(simulator.steps(), 0);
}

// A reader whose file breaks off behind the first row.
class BrokenReader final : public TraceReader {
 public:
  absl::StatusOr<bool> Next(TraceRequest* row) override {
    if (broken_) return absl::DataLossError("line 2: cut short");
    broken_ = true;
    *row = Row(0, 4, 1);
    return true;
  }
  std::span<const TraceProblem> problems() const override { return {}; }
  bool can_continue() const override { return false; }
  TraceFormat format() const override { return TraceFormat::kMooncake; }
  bool has_sessions() const override { return false; }

 private:
  bool broken_ = false;
};

TEST_F(SimulatorTest, ReportsWhatTheReaderReports) {
  auto engine = vllm::VllmEngine::Create(settings_);
  FixedCost cost(kStepNs);
  Simulator simulator(engine->get(), &cost, {});
  BrokenReader trace;
  EXPECT_EQ(simulator.Run(&trace), absl::DataLossError("line 2: cut short"));
}

// A cost model that runs out of records.
class ShortCost final : public CostModel {
 public:
  int64_t StepNs(const StepPlan&) override {
    ++calls_;
    return 1;
  }
  absl::Status status() const override {
    return calls_ < 2 ? absl::OkStatus() : absl::OutOfRangeError("step 1");
  }

 private:
  int calls_ = 0;
};

TEST_F(SimulatorTest, ReportsWhatTheCostModelReports) {
  auto engine = vllm::VllmEngine::Create(settings_);
  ShortCost cost;
  Simulator simulator(engine->get(), &cost, {});
  VectorTraceReader trace({Row(0, 4, 100)});
  EXPECT_EQ(simulator.Run(&trace), absl::OutOfRangeError("step 1"));
  EXPECT_EQ(simulator.steps(), 2);
}

}  // namespace
}  // namespace kvsim
