// Rows that become several sequences. Blocks have 4 tokens and every step takes
// 1000 ns.
#include "sim/sequences.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "engines/vllm/engine.h"
#include "sim/fixed_cost.h"
#include "sim/pool_metrics.h"
#include "sim/request_metrics.h"
#include "sim/simulator.h"
#include "sim/vector_trace_reader.h"

namespace kvsim {
namespace {

using Kind = Sequences::Kind;

TraceRequest Row(int64_t arrival_ns, int64_t input, int64_t output,
                 std::vector<uint64_t> hash_ids = {}) {
  TraceRequest row;
  row.arrival_ns = arrival_ns;
  row.input_length = input;
  row.output_length = output;
  if (!hash_ids.empty()) {
    row.hash_block = 4;
    row.hash_ids = std::move(hash_ids);
  }
  return row;
}

class SequencesTest : public ::testing::Test {
 protected:
  // Outputs of sequences and what became of forks, step by step.
  class Diary final : public StepObserver {
   public:
    void OnStep(const StepRecord& r, const Engine&) override {
      for (const ForkRecord& fork : r.forks) waits += fork.runs ? 0 : 1;
      forks += static_cast<int64_t>(r.forks.size());
      dropped += static_cast<int64_t>(r.dropped.size());
      tokens.push_back(r.plan == nullptr ? 0 : r.plan->total_tokens);
      finished.insert(finished.end(), r.finished.begin(), r.finished.end());
    }
    std::vector<int64_t> tokens;
    std::vector<RequestId> finished;
    int64_t forks = 0, waits = 0, dropped = 0;
  };

  SequencesTest() {
    settings_.num_gpu_blocks = 100;
    settings_.block_size = 4;
    settings_.max_model_len = 200;
  }
  void Run(Kind kind, int64_t width, std::vector<TraceRequest> rows,
           Arrivals arrivals = Arrivals::kTimestamps) {
    auto engine = vllm::VllmEngine::Create(settings_);
    ASSERT_TRUE(engine.ok()) << engine.status();
    SimulatorOptions options;
    options.block_tokens = settings_.block_size;
    options.max_model_len = settings_.max_model_len;
    options.arrivals = arrivals;
    options.sequences = {kind, width};
    FixedCost cost(1000);
    Simulator simulator(engine->get(), &cost, options);
    PoolMetrics pool;
    RequestMetrics requests(Slo(), width);
    simulator.AddObserver(&diary_);
    simulator.AddObserver(&pool);
    simulator.AddObserver(&requests);
    VectorTraceReader trace(std::move(rows));
    ASSERT_TRUE(simulator.Run(&trace).ok());
    EXPECT_EQ((*engine)->CheckInvariants(), "");
    counts_ = (*engine)->Counts();
    EXPECT_EQ(counts_.free_blocks, settings_.num_gpu_blocks - 1);
    pool_ = pool.Summary();
    requests_ = requests.Summary();
  }

  vllm::Settings settings_;
  Diary diary_;
  EngineCounts counts_;
  PoolSummary pool_;
  RequestSummary requests_;
};

TEST_F(SequencesTest, SamplesForkWithTheFirstToken) {
  Run(Kind::kForkedSamples, 3, {Row(0, 6, 4)});
  EXPECT_EQ(diary_.tokens, (std::vector<int64_t>{6, 3, 3, 3}));
  EXPECT_EQ(diary_.finished, (std::vector<RequestId>{0, 1, 2}));
  EXPECT_EQ(counts_.forks, 2);
  EXPECT_EQ(counts_.forked_blocks, 4);  // the prompt's two, by each
  EXPECT_EQ(counts_.fork_copies, 2);    // of its partial tail
  EXPECT_EQ(pool_.saved_peak, 2 * 6);
  // One request, whatever it became.
  EXPECT_EQ(requests_.requests, 1);
  EXPECT_EQ(requests_.finished, 1);
  EXPECT_EQ(requests_.prompt_tokens, 6);
  EXPECT_EQ(requests_.output_tokens, 3 * 4);
  EXPECT_EQ(requests_.ttft.max_ns, 1000);
  EXPECT_EQ(requests_.e2e.max_ns, 4000);
  EXPECT_EQ(requests_.tpot.max_ns, 1000);
}

// As vLLM V1 does it: three requests, of which two hit the first one's full block.
TEST_F(SequencesTest, SeparateSamplesShareFullBlocksOnly) {
  Run(Kind::kSeparateSamples, 3, {Row(0, 6, 4)});
  EXPECT_EQ(diary_.tokens, (std::vector<int64_t>{6 + 2 + 2, 3, 3, 3}));
  EXPECT_EQ(counts_.forks, 0);
  EXPECT_EQ(pool_.saved_peak, 2 * 4);
  EXPECT_EQ(requests_.requests, 1);
  EXPECT_EQ(requests_.finished, 1);
  EXPECT_EQ(requests_.prompt_tokens, 3 * 6);
  EXPECT_EQ(requests_.hit_tokens, 2 * 4);
  EXPECT_EQ(requests_.output_tokens, 3 * 4);
}

// Every sample has its own tokens: block 1 has three keys, block 0 one.
TEST_F(SequencesTest, SamplesNeverShareByAccident) {
  for (const Kind kind : {Kind::kForkedSamples, Kind::kSeparateSamples}) {
    Run(kind, 3, {Row(0, 4, 5)});
    EXPECT_EQ(counts_.cached_keys, 1 + 3);
  }
}

TEST_F(SequencesTest, ARequestOfOneOutputDoesNotFork) {
  Run(Kind::kForkedSamples, 4, {Row(0, 6, 1)});
  EXPECT_EQ(counts_.forks, 0);
  EXPECT_EQ(requests_.finished, 1);
}

// Forks beyond --max-num-seqs compute the prompt again, less what prefixes serve.
TEST_F(SequencesTest, ForksThatDoNotFitWait) {
  settings_.max_num_seqs = 2;
  Run(Kind::kForkedSamples, 3, {Row(0, 6, 4)});
  EXPECT_EQ(diary_.forks, 2);
  EXPECT_EQ(diary_.waits, 1);
  EXPECT_EQ(counts_.forks, 1);
  EXPECT_EQ(requests_.finished, 1);
  EXPECT_EQ(requests_.output_tokens, 3 * 4);
  EXPECT_EQ(requests_.admitted, 1);
  EXPECT_EQ(requests_.resume_hit_tokens, 4);
  EXPECT_EQ(requests_.recomputed_tokens, 2);
}

// One of the beams goes on twice and one is dropped, or none.
TEST_F(SequencesTest, BeamsForkAndDrop) {
  Run(Kind::kBeams, 4, {Row(0, 10, 20), Row(0, 7, 9)});
  EXPECT_EQ(diary_.forks, 2 * 3 + diary_.dropped);
  EXPECT_GT(diary_.dropped, 10);
  EXPECT_LE(diary_.dropped, 18 + 7);
  EXPECT_EQ(diary_.finished.size(), 8u);
  EXPECT_EQ(requests_.finished, 2);
  EXPECT_EQ(counts_.forks, diary_.forks);
  EXPECT_GT(counts_.fork_copies, 0);
}

// What a row's beams draw does not depend on who else runs.
TEST_F(SequencesTest, BeamsDrawByRow) {
  Run(Kind::kBeams, 4, {Row(0, 10, 20)});
  const int64_t alone = diary_.dropped;
  Run(Kind::kBeams, 4, {Row(0, 10, 20), Row(1'000'000, 7, 1)});
  EXPECT_EQ(diary_.dropped, 2 * alone);
}

TEST_F(SequencesTest, TheNextTurnWaitsForAllSequences) {
  settings_.max_num_seqs = 1;  // one after the other
  TraceRequest next = Row(0, 4, 1);
  next.previous = 0;
  Run(Kind::kForkedSamples, 2, {Row(0, 6, 4), next}, Arrivals::kAfterPrevious);
  EXPECT_EQ(requests_.finished, 2);
  EXPECT_EQ(diary_.finished.back(), 2);
}

// An agent that branches: two requests go on from one conversation. They share its
// blocks by prefix; what a block for each would take is saved.
TEST_F(SequencesTest, BranchesOfAConversationShareItByPrefix) {
  Run(Kind::kForkedSamples, 1,
      {Row(0, 8, 1, {1, 2}), Row(5000, 14, 3, {1, 2, 3, 4}),
       Row(5000, 14, 3, {1, 2, 5, 6})});
  EXPECT_EQ(requests_.hit_tokens, 2 * 8);
  EXPECT_EQ(pool_.shared_peak, 8);
  EXPECT_EQ(pool_.saved_peak, 8);
}

}  // namespace
}  // namespace kvsim
