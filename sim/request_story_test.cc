#include "sim/request_story.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "engines/vllm/engine.h"
#include "sim/fake_engine.h"
#include "sim/fixed_cost.h"
#include "sim/simulator.h"
#include "sim/vector_trace_reader.h"
#include "traces/partial_tail.h"

namespace kvsim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Place = WaitStretch::Place;
using Limit = AdmissionLimit;
using Ids = std::vector<uint64_t>;

constexpr int64_t kStepNs = 1000;
constexpr int64_t kBlock = 16;

// A prompt whose hash blocks have `hash_block` tokens; its tail is its own.
TraceRequest Row(int64_t arrival_ns, int64_t input, int64_t output, Ids ids,
                 int64_t hash_block = kBlock) {
  TraceRequest row;
  row.arrival_ns = arrival_ns;
  row.input_length = input;
  row.output_length = output;
  row.hash_ids = std::move(ids);
  row.hash_block = hash_block;
  return row;
}

vllm::CacheGroup Recurrent() {
  vllm::CacheGroup group;
  group.kind = vllm::GroupKind::kRecurrent;
  group.geometry = {.row_bytes = 0, .state_bytes = kBlock};
  return group;
}

vllm::CacheGroup Window(int64_t tokens) {
  vllm::CacheGroup group;
  group.kind = vllm::GroupKind::kSlidingWindow;
  group.window = tokens;
  return group;
}

class RequestStoryTest : public ::testing::Test {
 protected:
  RequestStoryTest() {
    settings_.num_gpu_blocks = 101;
    settings_.block_size = kBlock;
    settings_.max_model_len = 1024;
  }

  // The life of row `id` when steps take kStepNs.
  Story Tell(RequestId id, std::vector<TraceRequest> rows) {
    const absl::StatusOr<vllm::Settings> settings = settings_.Normalized();
    EXPECT_TRUE(settings.ok()) << settings.status();
    auto engine = *vllm::VllmEngine::Create(*settings);
    TraceRequest& asked = rows[static_cast<size_t>(id)];
    asked.id = id;
    StoryQuestion question;
    question.id = id;
    question.tokens =
        std::make_shared<RequestTokens>(asked, PartialTail::kUnique);
    question.max_tokens = asked.output_length;
    question.key_tokens = settings->HashTokens();
    const vllm::CacheUnits units = settings->Units();
    question.hit_unit =
        units.fine_hits ? units.hash_tokens : units.scheduler_tokens;
    question.max_num_batched_tokens = settings->max_num_batched_tokens;
    question.long_prefill_token_threshold =
        settings->long_prefill_token_threshold;
    for (const vllm::CacheGroup& group : settings->groups) {
      question.group_block_tokens.push_back(
          group.kind == vllm::GroupKind::kRecurrent ? 0 : group.block_tokens);
    }
    RequestStory story(question);
    engine->SetCacheListener(&story);
    FixedCost cost(kStepNs);
    SimulatorOptions options;
    options.block_tokens = settings->HashTokens();
    options.max_model_len = settings->max_model_len;
    options.asynchronous = settings->async_scheduling;
    options.num_speculative_tokens = settings->num_speculative_tokens;
    Simulator simulator(engine.get(), &cost, options);
    simulator.AddObserver(&story);
    VectorTraceReader reader(std::move(rows));
    EXPECT_TRUE(simulator.Run(&reader).ok());
    return story.story();
  }

  vllm::Settings settings_;
};

// (cause, begin, end)
testing::Matcher<const MissPart&> Part(MissCause cause, int64_t begin,
                                       int64_t end) {
  return testing::AllOf(testing::Field(&MissPart::cause, cause),
                        testing::Field(&MissPart::begin, begin),
                        testing::Field(&MissPart::end, end));
}

testing::Matcher<const WaitStretch&> Wait(Place place, Limit limit,
                                          int64_t begin_ns, int64_t end_ns) {
  return testing::AllOf(testing::Field(&WaitStretch::place, place),
                        testing::Field(&WaitStretch::limit, limit),
                        testing::Field(&WaitStretch::begin_ns, begin_ns),
                        testing::Field(&WaitStretch::end_ns, end_ns));
}

// --- why it missed ------------------------------------------------------------------

TEST_F(RequestStoryTest, NobodyHadWhatFollowsTheSharedPrefix) {
  // Both begin with two blocks; the eight tokens behind are each one's own.
  const Story story =
      Tell(1, {Row(0, 40, 1, {1, 2}), Row(5000, 40, 1, {1, 2})});
  const HitExplanation& hit = story.residencies[0].hit;
  EXPECT_EQ(hit.hit_tokens, 32);
  EXPECT_EQ(hit.shared_tokens, 32);
  EXPECT_EQ(hit.shared_with, 0);
  EXPECT_THAT(hit.parts, ElementsAre(Part(MissCause::kNeverCached, 32, 40)));
}

TEST_F(RequestStoryTest, ThePrefixIsRoundedDownToBlocks) {
  // Hash blocks of 10 tokens: 30 in common, and blocks of 16.
  const Story story = Tell(
      1, {Row(0, 40, 1, {1, 2, 3, 4}, 10), Row(5000, 40, 1, {1, 2, 3, 5}, 10)});
  EXPECT_EQ(story.residencies[0].hit.hit_tokens, 16);
  EXPECT_THAT(story.residencies[0].hit.parts,
              ElementsAre(Part(MissCause::kRounding, 16, 30),
                          Part(MissCause::kNeverCached, 30, 40)));
}

TEST_F(RequestStoryTest, TheLastTokenIsAlwaysComputed) {
  // A twin of 48 tokens: 47 may be hit, 32 are.
  const Story story =
      Tell(1, {Row(0, 48, 1, {1, 2, 3}), Row(5000, 48, 1, {1, 2, 3})});
  EXPECT_EQ(story.residencies[0].hit.hit_tokens, 32);
  EXPECT_THAT(story.residencies[0].hit.parts,
              ElementsAre(Part(MissCause::kRounding, 32, 47),
                          Part(MissCause::kLastToken, 47, 48)));
}

TEST_F(RequestStoryTest, ADraftModelGivesABlockBack) {
  settings_.num_speculative_tokens = 1;
  const Story story =
      Tell(1, {Row(0, 64, 1, {1, 2, 3, 4}), Row(5000, 80, 1, {1, 2, 3, 4, 9})});
  EXPECT_EQ(story.residencies[0].hit.hit_tokens, 48);
  EXPECT_THAT(story.residencies[0].hit.parts,
              ElementsAre(Part(MissCause::kDraft, 48, 64),
                          Part(MissCause::kNeverCached, 64, 80)));
}

TEST_F(RequestStoryTest, WithoutPrefixCachingNothingIsHit) {
  settings_.enable_prefix_caching = false;
  const Story story =
      Tell(1, {Row(0, 40, 1, {1, 2}), Row(5000, 40, 1, {1, 2})});
  EXPECT_THAT(story.residencies[0].hit.parts,
              ElementsAre(Part(MissCause::kCachingOff, 0, 40)));
}

TEST_F(RequestStoryTest, AnEvictionIsNamedWithWhoAndWhen) {
  // Four blocks. Request 0 caches two, request 1 takes all four.
  settings_.num_gpu_blocks = 5;
  const Story story =
      Tell(2, {Row(0, 32, 1, {1, 2}), Row(10'000, 64, 1, {5, 6, 7, 8}),
               Row(20'000, 40, 1, {1, 2})});
  const HitExplanation& hit = story.residencies[0].hit;
  EXPECT_EQ(hit.hit_tokens, 0);
  EXPECT_THAT(hit.parts, ElementsAre(Part(MissCause::kEvicted, 0, 32),
                                     Part(MissCause::kNeverCached, 32, 40)));
  ASSERT_EQ(hit.evicted.size(), 1u);
  const GroupMiss& miss = hit.evicted[0];
  EXPECT_EQ(miss.at_tokens, 32);
  EXPECT_EQ(miss.missing, 2);
  EXPECT_EQ(miss.tokens, 16);
  EXPECT_EQ(miss.key.first_keyed.by, 0);
  EXPECT_EQ(miss.key.first_keyed.step, 0);
  EXPECT_EQ(miss.key.gone.by, 1);
  EXPECT_EQ(miss.key.gone.step, 1);
  EXPECT_EQ(miss.key.gone.time_ns, 10'000);
}

TEST_F(RequestStoryTest, AStateThatWasNeverCheckpointedEndsTheHit) {
  // Chunks of 32 tokens: request 0 keeps states at 32 and 64 (the interval) and
  // at 80 (the last boundary of its 96 tokens). 48 tokens are shared: full
  // attention has them, the state at 48 does not exist.
  settings_.groups = {vllm::CacheGroup(), Recurrent()};
  settings_.max_num_batched_tokens = 32;
  settings_.retention_interval = 32;
  const Story story = Tell(
      1, {Row(0, 96, 1, {1, 2, 3, 4, 5, 6}), Row(50'000, 64, 1, {1, 2, 3, 9})});
  const HitExplanation& hit = story.residencies[0].hit;
  EXPECT_EQ(hit.hit_tokens, 32);
  EXPECT_EQ(hit.junction, 48);
  EXPECT_THAT(hit.group_tokens, ElementsAre(48, 32));
  EXPECT_THAT(hit.parts, ElementsAre(Part(MissCause::kNotKept, 32, 48),
                                     Part(MissCause::kNeverCached, 48, 64)));
  ASSERT_EQ(hit.not_kept.size(), 1u);
  EXPECT_EQ(hit.not_kept[0].group, 1);
  EXPECT_EQ(hit.not_kept[0].tokens, 48);
  EXPECT_THAT(hit.not_kept[0].kept, ElementsAre(32));
}

TEST_F(RequestStoryTest, AWindowKeepsItsTailAtTheLastBoundaryOnly) {
  // A window of 33 tokens needs two blocks before its end. Retention 0 keeps
  // those that end at 80, the last boundary of 96 tokens: blocks 3 and 4. The
  // shared prefix ends at 48.
  settings_.groups = {vllm::CacheGroup(), Window(33)};
  const Story story = Tell(
      1, {Row(0, 96, 1, {1, 2, 3, 4, 5, 6}), Row(50'000, 64, 1, {1, 2, 3, 9})});
  const HitExplanation& hit = story.residencies[0].hit;
  EXPECT_EQ(hit.hit_tokens, 0);
  EXPECT_THAT(hit.group_tokens, ElementsAre(48, 0));
  EXPECT_THAT(hit.parts, ElementsAre(Part(MissCause::kNotKept, 0, 48),
                                     Part(MissCause::kNeverCached, 48, 64)));
  ASSERT_EQ(hit.not_kept.size(), 1u);
  EXPECT_EQ(hit.not_kept[0].group, 1);
  EXPECT_EQ(hit.not_kept[0].needed, 2);
  EXPECT_EQ(hit.not_kept[0].missing, 2);
  EXPECT_THAT(hit.not_kept[0].kept, IsEmpty());
}

TEST_F(RequestStoryTest, ATwinThatIsNotThatFarHasNothingToGive) {
  // Chunks of 16 tokens: in the first step request 0 has computed 16.
  settings_.long_prefill_token_threshold = 16;
  const Story story =
      Tell(1, {Row(0, 64, 1, {1, 2, 3, 4}), Row(0, 64, 1, {1, 2, 3, 4})});
  const Residency& life = story.residencies[0];
  EXPECT_EQ(life.hit.hit_tokens, 16);
  EXPECT_THAT(life.hit.parts, ElementsAre(Part(MissCause::kNotComputed, 16, 48),
                                          Part(MissCause::kRounding, 48, 63),
                                          Part(MissCause::kLastToken, 63, 64)));
  // 48 tokens in chunks of 16.
  ASSERT_EQ(life.chunks.size(), 3u);
  EXPECT_EQ(life.chunks[0].end, PrefillChunk::End::kThreshold);
  EXPECT_EQ(life.chunks[2].end, PrefillChunk::End::kComplete);
  EXPECT_EQ(story.first_output_ns, 3 * kStepNs);
}

// --- why it waited ------------------------------------------------------------------

TEST_F(RequestStoryTest, ItComesWhileAStepRuns) {
  const Story story = Tell(1, {Row(0, 16, 1, {1}), Row(400, 16, 1, {2})});
  EXPECT_THAT(story.residencies[0].waits,
              ElementsAre(Wait(Place::kBetweenSteps, Limit::kNoneWaiting, 400,
                               kStepNs)));
  EXPECT_EQ(story.residencies[0].admitted_ns, kStepNs);
}

TEST_F(RequestStoryTest, TheGateComparesTheWholePromptWithTheFreeBlocks) {
  // Four blocks. Request 0 holds three for three steps, a fourth from the second
  // on; request 1 needs two. Request 2, of one block, stands behind it.
  settings_.num_gpu_blocks = 5;
  const std::vector<TraceRequest> rows = {
      Row(0, 48, 3, {1, 2, 3}), Row(0, 32, 1, {5, 6}), Row(0, 16, 1, {7})};
  const Story head = Tell(1, rows);
  ASSERT_THAT(head.residencies[0].waits,
              ElementsAre(Wait(Place::kHead, Limit::kGate, 0, 3 * kStepNs)));
  const WaitStretch& wait = head.residencies[0].waits[0];
  EXPECT_EQ(wait.steps, 3);
  EXPECT_EQ(wait.first_needed, 2);
  EXPECT_EQ(wait.first_free, 1);
  EXPECT_EQ(wait.last_free, 0);
  const Story behind = Tell(2, rows);
  ASSERT_THAT(behind.residencies[0].waits,
              ElementsAre(Wait(Place::kBehind, Limit::kGate, 0, 3 * kStepNs)));
  EXPECT_EQ(behind.residencies[0].waits[0].first_head, 1);
  EXPECT_EQ(behind.residencies[0].admitted_step, 3);
}

TEST_F(RequestStoryTest, WithoutTheGateTheStepsBlocksDecide) {
  settings_.num_gpu_blocks = 5;
  settings_.reserve_full_sequence = false;
  const Story story =
      Tell(1, {Row(0, 48, 3, {1, 2, 3}), Row(0, 32, 1, {5, 6})});
  EXPECT_THAT(story.residencies[0].waits,
              ElementsAre(Wait(Place::kHead, Limit::kBlocks, 0, 3 * kStepNs)));
}

TEST_F(RequestStoryTest, SequencesAndTokensAreLimits) {
  const std::vector<TraceRequest> rows = {Row(0, 48, 3, {1, 2, 3}),
                                          Row(0, 32, 1, {5, 6})};
  settings_.max_num_seqs = 1;
  EXPECT_THAT(
      Tell(1, rows).residencies[0].waits,
      ElementsAre(Wait(Place::kHead, Limit::kMaxSequences, 0, 3 * kStepNs)));
  settings_.max_num_seqs = 8;
  settings_.max_num_batched_tokens = 24;  // 24 + 24 tokens of the other prompt
  const Story story = Tell(1, rows);
  EXPECT_THAT(
      story.residencies[0].waits,
      ElementsAre(Wait(Place::kHead, Limit::kTokenBudget, 0, 2 * kStepNs)));
  // 23 beside one token of the other, then the rest.
  ASSERT_EQ(story.residencies[0].chunks.size(), 2u);
  EXPECT_EQ(story.residencies[0].chunks[0].num_tokens, 23);
  EXPECT_EQ(story.residencies[0].chunks[0].end, PrefillChunk::End::kBudget);
}

TEST_F(RequestStoryTest, AStateOfTheSameStepIsNotHitBeforeTheNext) {
  // Request 0's first chunk ends at 64, the last boundary of 70 tokens, and the
  // state there gets its key; its twin would hit it.
  settings_.groups = {vllm::CacheGroup(), Recurrent()};
  const Story story =
      Tell(1, {Row(0, 70, 1, {1, 2, 3, 4}), Row(0, 70, 1, {1, 2, 3, 4})});
  EXPECT_THAT(
      story.residencies[0].waits,
      ElementsAre(Wait(Place::kHead, Limit::kStateDeferral, 0, kStepNs)));
  EXPECT_EQ(story.residencies[0].hit.hit_tokens, 64);
}

TEST_F(RequestStoryTest, OutputsInFlightComeBackFirst) {
  // Told by hand: the engine sets a request aside while another is admitted.
  StoryQuestion question;
  const TraceRequest row = Row(0, 32, 4, {1, 2});
  question.tokens = std::make_shared<RequestTokens>(row, PartialTail::kUnique);
  question.max_tokens = 4;
  question.group_block_tokens = {kBlock};
  RequestStory story(question);
  FakeEngine engine;
  story.OnArrival({0, 0, 0, &row, 4, true, question.tokens.get()});
  story.OnStepStart(0, 0, engine);
  story.OnRefused({.id = 0, .limit = Limit::kAsyncDrain});
  StepPlan plan;
  StepRecord record{.end_ns = kStepNs, .scheduled = true, .plan = &plan};
  story.OnSchedule(plan, engine);
  story.OnStep(record, engine);
  EXPECT_THAT(story.story().residencies[0].waits,
              ElementsAre(Wait(Place::kHead, Limit::kAsyncDrain, 0, kStepNs)));
}

// --- preemption ---------------------------------------------------------------------

TEST_F(RequestStoryTest, APreemptionAndItsReturn) {
  // Four blocks, two for each prompt of 31 tokens. In step 2 both stand at 32 and
  // request 0 takes a third: request 1 loses 32 tokens, and the block of its
  // second key at once. Request 0 computes its tenth output in step 9; with 33
  // tokens known request 1 needs three blocks and waits for that.
  settings_.num_gpu_blocks = 5;
  const Story story = Tell(1, {Row(0, 31, 10, {1}), Row(0, 31, 10, {2})});
  ASSERT_EQ(story.residencies.size(), 2u);
  const Residency& first = story.residencies[0];
  ASSERT_TRUE(first.preempted.has_value());
  EXPECT_EQ(first.preempted->step, 2);
  EXPECT_EQ(first.preempted->time_ns, 2 * kStepNs);
  EXPECT_EQ(first.preempted->by, 0);
  EXPECT_EQ(first.preempted->computed_tokens, 32);
  EXPECT_EQ(first.preempted->needed_blocks, 1);
  EXPECT_EQ(first.preempted->free_blocks, 0);
  EXPECT_EQ(first.decode_steps, 1);

  const Residency& second = story.residencies[1];
  EXPECT_THAT(
      second.waits,
      ElementsAre(
          Wait(Place::kHead, Limit::kPreemption, 2 * kStepNs, 3 * kStepNs),
          Wait(Place::kHead, Limit::kGate, 3 * kStepNs, 10 * kStepNs)));
  EXPECT_EQ(second.admitted_step, 10);
  EXPECT_EQ(second.hit.num_tokens, 33);
  EXPECT_EQ(second.hit.hit_tokens, 16);
  EXPECT_EQ(second.hit.shared_with, 1);
  EXPECT_THAT(second.hit.parts,
              ElementsAre(Part(MissCause::kEvicted, 16, 32),
                          Part(MissCause::kLastToken, 32, 33)));
  ASSERT_EQ(second.hit.evicted.size(), 1u);
  EXPECT_EQ(second.hit.evicted[0].tokens, 32);
  EXPECT_EQ(second.hit.evicted[0].key.first_keyed.by, 1);
  EXPECT_EQ(second.hit.evicted[0].key.gone.by, 0);
  EXPECT_EQ(second.hit.evicted[0].key.gone.step, 2);

  // Outputs 3 to 10 in steps 10 to 17.
  EXPECT_EQ(story.end, Story::End::kFinished);
  EXPECT_EQ(story.outputs, 10);
  EXPECT_EQ(story.end_ns, 18 * kStepNs);
  EXPECT_EQ(story.peak_blocks, 3);
  EXPECT_EQ(story.peak[0].empty_rows, 15);  // in step 10, with 33 tokens
}

// --- ends ---------------------------------------------------------------------------

TEST_F(RequestStoryTest, SomeNeverRun) {
  settings_.max_model_len = 100;
  EXPECT_EQ(Tell(0, {Row(0, 100, 1, {1})}).end, Story::End::kTooLong);
  settings_.num_gpu_blocks = 4;
  const Story story = Tell(0, {Row(0, 64, 1, {1, 2, 3, 4})});
  EXPECT_EQ(story.end, Story::End::kNeverFit);
  ASSERT_EQ(story.residencies[0].waits.size(), 1u);
  EXPECT_EQ(story.residencies[0].waits[0].first_needed, 4);
  EXPECT_EQ(story.residencies[0].waits[0].first_free, 3);
  EXPECT_FALSE(story.residencies[0].admitted);
}

}  // namespace
}  // namespace kvsim
