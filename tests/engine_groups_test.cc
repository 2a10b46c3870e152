// VllmEngine against its naive twin on random programs over random cache groups,
// and proof that this tester can fail: mistakes that a manager of groups could
// make are found out and their programs shrunk.
//
// A failure prints a seed and a small program as C++; paste the program into a
// test of this file. KVSIM_SWARM_RUNS and KVSIM_SWARM_SEED in the environment
// (bazel test --test_env=...) run more, or elsewhere.
#include <gtest/gtest.h>

#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "engines/token_chain.h"
#include "engines/vllm/naive_engine.h"
#include "tests/engine_program.h"
#include "tests/shrink_program.h"
#include "tests/swarm.h"
#include "tests/swarm_seeds.h"

namespace kvsim {
namespace {

TEST(EngineGroupsTest, AgreesWithTheNaiveTwinOnRandomPrograms) {
  EXPECT_EQ(DifferenceOfSeeds(
                15'000, [](uint64_t seed) { return RunGroupSwarm(seed); }),
            "");
}

TEST(EngineGroupsTest, ASeedIsAProgram) {
  const SwarmRun a = RunGroupSwarm(7), b = RunGroupSwarm(7);
  EXPECT_EQ(a.program.Code(), b.program.Code());
  EXPECT_EQ(RunProgram(a.program), "");
}

// A tester that never comes by the interesting places proves nothing.
TEST(EngineGroupsTest, RandomProgramsComeByEveryKindOfGroupAndStep) {
  Visited sum;
  std::vector<int64_t> kinds(5), hits(5);
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    const SwarmRun run = RunGroupSwarm(seed);
    for (size_t i = 0; i < sum.limits.size(); ++i) {
      sum.limits[i] += run.visited.limits[i];
    }
    sum.copies += run.visited.copies;
    sum.swaps_in += run.visited.swaps_in;
    sum.forks += run.visited.forks;
    sum.fork_copies += run.visited.fork_copies;
    sum.forks_waited += run.visited.forks_waited;
    sum.preemptions += run.visited.preemptions;
    sum.drafts += run.visited.drafts;
    for (const vllm::CacheGroup& group : run.program.settings.groups) {
      const auto kind = static_cast<size_t>(group.kind);
      ++kinds[kind];
      hits[kind] += run.visited.admitted_with_hit;
    }
  }
  for (int i = 0; i < kNumAdmissionLimits; ++i) {
    EXPECT_GE(sum.limits[static_cast<size_t>(i)], 10)
        << AdmissionLimitName(static_cast<AdmissionLimit>(i));
  }
  EXPECT_GE(sum.copies, 100);
  EXPECT_GE(sum.swaps_in, 100);
  EXPECT_GE(sum.forks, 300);
  EXPECT_GE(sum.fork_copies, 500);
  EXPECT_GE(sum.forks_waited, 500);
  EXPECT_GE(sum.preemptions, 1000);
  EXPECT_GE(sum.drafts, 1000);
  for (const vllm::GroupKind kind :
       {vllm::GroupKind::kFull, vllm::GroupKind::kSlidingWindow,
        vllm::GroupKind::kChunkedLocal, vllm::GroupKind::kRecurrent}) {
    EXPECT_GE(hits[static_cast<size_t>(kind)], 100) << GroupKindName(kind);
  }
  EXPECT_GE(kinds[static_cast<size_t>(vllm::GroupKind::kCross)], 30);
}

// --- programs that once told engine and twin apart -----------------------------------

vllm::CacheGroup Of(vllm::GroupKind kind, int64_t block) {
  return {.kind = kind, .block_tokens = block, .geometry = {.state_bytes = 3}};
}

// The copy of a state that was hit inside its block is the running state, not the
// one before it as well.
TEST(EngineGroupsTest, APartlyHitStateHasOneRole) {
  Program p;
  p.settings.num_gpu_blocks = 15;
  p.settings.block_size = 5;
  p.settings.num_speculative_tokens = 3;
  p.settings.speculative_method = vllm::SpeculativeMethod::kNgram;
  p.settings.groups = {Of(vllm::GroupKind::kFull, 1),
                       Of(vllm::GroupKind::kRecurrent, 5)};
  p.operations = {
      Add{1, {2000, 2001, 2002, 2003}, 2, 0, 0},
      Add{7, {2000, 2001, 2002, 2003, OutputToken(1, 4)}, 1, 0, 0},
      Schedule{},
      Complete{0},
      Schedule{},
      Complete{0},
      Schedule{},
  };
  EXPECT_EQ(RunProgram(p), "");
}

// The prompt's end lies inside the first block: its state has the key once, the
// state that goes on from there does not get it too.
TEST(EngineGroupsTest, AsynchronousStepsKeyThePromptsEndOnce) {
  Program p;
  p.settings.num_gpu_blocks = 6;
  p.settings.block_size = 2;
  p.settings.async_scheduling = true;
  p.settings.groups = {Of(vllm::GroupKind::kRecurrent, 2),
                       Of(vllm::GroupKind::kFull, 1)};
  p.operations = {Add{0, {1000}, 2, 0, 0}, Schedule{}, Schedule{}};
  EXPECT_EQ(RunProgram(p), "");
}

// What a window leaves while it is in flight is computed when it is hit.
TEST(EngineGroupsTest, BlocksFreedInFlightCountAsComputed) {
  Program p;
  p.settings.num_gpu_blocks = 5;
  p.settings.async_scheduling = true;
  p.settings.free_on_processed = false;
  p.settings.groups = {Of(vllm::GroupKind::kSlidingWindow, 2)};
  p.settings.groups[0].window = 2;
  const std::vector<int64_t> prompt = {1000, 1001, 1002, 1003,
                                       1004, 1005, 1006};
  p.operations = {Add{4, prompt, 2, 0, 0}, Schedule{}, Add{7, prompt, 1, 0, 0},
                  Schedule{}};
  EXPECT_EQ(RunProgram(p), "");
}

// With a draft model the block behind the scheduler's unit has a key too.
TEST(EngineGroupsTest, DraftModelsKeyOneBlockMore) {
  Program p;
  p.settings.num_gpu_blocks = 4;
  p.settings.num_speculative_tokens = 1;
  p.settings.groups = {Of(vllm::GroupKind::kFull, 1),
                       Of(vllm::GroupKind::kFull, 2)};
  p.operations = {Add{4, {1000}, 1, 0, 0}, Schedule{}};
  State state(p);
  for (const Operation& operation : p.operations) {
    ASSERT_EQ(state.Perform(operation), "");
  }
  EXPECT_EQ(state.Counts().cached_keys, 2);  // of the first group, and the
                                             // prompt's end in the second
}

// Encoder rows are in flight until the first step's results are there.
TEST(EngineGroupsTest, EncoderRowsAreLiveAfterTheFirstStep) {
  vllm::Settings settings;
  settings.num_gpu_blocks = 6;
  settings.enable_prefix_caching = false;
  settings.groups = {Of(vllm::GroupKind::kCross, 4)};
  settings.groups[0].encoder_tokens = 6;
  const auto engine = MakeVllmEngine(settings);
  TokenChain keys({1, 2}, 4);
  RequestParams params{.num_prompt_tokens = 1, .max_tokens = 2, .keys = &keys};
  engine->Add(params);
  StepPlan plan;
  engine->Schedule(&plan);
  EXPECT_EQ(engine->Ledger()[Account::kInFlight], 6);
  EXPECT_EQ(engine->Ledger()[Account::kTailSlack], 2);
  std::vector<RequestId> finished;
  engine->Complete(plan, std::vector<int32_t>{1}, &finished);
  EXPECT_EQ(engine->Ledger()[Account::kLive], 6);
}

// --- the tester can fail ------------------------------------------------------------

// An engine that is right about everything but one thing: the engine with one
// setting changed, or the naive twin with one of its mistakes.
struct Fault {
  const char* name;
  void (*twist)(vllm::Settings*) = nullptr;
  vllm::NaiveMistake mistake = vllm::NaiveMistake::kNone;
};
SubjectFactory Make(const Fault& fault) {
  return [fault](const vllm::Settings& settings) -> std::unique_ptr<Engine> {
    if (fault.twist == nullptr) {
      return std::make_unique<vllm::NaiveEngine>(settings, fault.mistake);
    }
    vllm::Settings twisted = settings;
    fault.twist(&twisted);
    return MakeVllmEngine(twisted);
  };
}

using S = vllm::Settings;
using M = vllm::NaiveMistake;
const Fault kFaults[] = {
    {"forgets the junction", [](S* s) { s->junctions = false; }},
    {"hits states of this step",
     [](S* s) { s->same_step_state_guard = false; }},
    {"evicts by last use",
     [](S* s) {
       if (s->checkpoints.has_value()) s->checkpoints->value_permille.reset();
     }},
    {"forgets what recompute costs",
     [](S* s) {
       if (s->EvictsByValue()) s->checkpoints->value_permille = 0;
     }},
    {"forgets the context's cost", [](S* s) { s->attention_balance = 0; }},
    {"keeps one boundary more",
     [](S* s) {
       if (s->checkpoints.has_value()) s->checkpoints->prompt_end = true;
     }},
    {"goes on past the end of a block",
     [](S* s) { s->realign_chunks = false; }},
    {"keeps every tail", [](S* s) { s->retention_interval.reset(); }},
    {"gives every block a key", [](S* s) { s->sparse_keys = false; }},
    {"counts whole windows at the gate",
     [](S* s) { s->window_admission_cap = false; }},
    {"frees what is in flight", [](S* s) { s->free_on_processed = false; }},
    {"gives old states back early",
     [](S* s) { s->frees_every_old_state = true; }},
    {"takes padding for states",
     [](S* s) {
       for (vllm::CacheGroup& g : s->groups) {
         if (g.kind != vllm::GroupKind::kRecurrent) continue;
         g.geometry.state_bytes += g.geometry.page_padding;
         g.geometry.page_padding = 0;
       }
     }},
    {"drops one block too many", nullptr, M::kDropsOneTooMany},
    {"leaves the key with the running state", nullptr, M::kKeyStaysWithSource},
    {"gives copies back at once", nullptr, M::kCopyIsNotHeld},
    {"looks up the last of equal groups", nullptr, M::kLastOfEqualsOnly},
    {"guards blocks, not keys", nullptr, M::kGuardsBlocks},
    {"swaps without the tail", nullptr, M::kLosesSwappedTail},
    {"forks write into one block", nullptr, M::kWritesSharedTail},
    {"forks go on in one state", nullptr, M::kForksShareStates},
    {"copies for the last owner", nullptr, M::kLastOwnerCopies},
};

class GroupFaultTest : public ::testing::TestWithParam<Fault> {};

TEST_P(GroupFaultTest, IsFoundAndShrunkToAFewOperations) {
  const SubjectFactory faulty = Make(GetParam());
  const auto fails = [&faulty](const Program& p) {
    return !RunProgram(p, faulty).empty();
  };
  // A program of which nothing can be left out may still be long: the next that
  // fails is then tried.
  constexpr uint64_t kSeeds = 6000;
  constexpr size_t kFew = 20;
  int tries = 3;
  for (uint64_t seed = 1; seed <= kSeeds && tries > 0; ++seed) {
    const SwarmRun run = RunGroupSwarm(seed, faulty);
    if (run.difference.empty()) continue;
    --tries;
    const Program small = Shrink(run.program, fails);
    EXPECT_TRUE(fails(small));
    EXPECT_EQ(RunProgram(small), "") << "not the engine's own fault";
    std::cout << GetParam().name << ": seed " << seed << ", "
              << run.program.operations.size() << " operations shrunk to "
              << small.operations.size() << "\n";
    if (small.operations.size() <= kFew) return;
  }
  FAIL() << GetParam().name
         << (tries == 0 ? " was not shrunk to " : " is not in ")
         << (tries == 0 ? kFew : kSeeds)
         << (tries == 0 ? " operations" : " seeds");
}

INSTANTIATE_TEST_SUITE_P(All, GroupFaultTest, ::testing::ValuesIn(kFaults));

}  // namespace
}  // namespace kvsim
