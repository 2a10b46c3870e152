// VllmEngine against its naive twin on random programs, and proof that this
// tester can fail: faulty engines are found out and their programs shrunk.
//
// A failure prints a seed and a small program as C++; paste the program into a
// test of this file. KVSIM_SWARM_RUNS and KVSIM_SWARM_SEED in the environment
// (bazel test --test_env=...) run more, or elsewhere.
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <string>

#include "tests/engine_program.h"
#include "tests/shrink_program.h"
#include "tests/swarm.h"
#include "tests/swarm_seeds.h"

namespace kvsim {
namespace {

TEST(EngineModelTest, AgreesWithTheNaiveTwinOnRandomPrograms) {
  EXPECT_EQ(
      DifferenceOfSeeds(10'000, [](uint64_t seed) { return RunSwarm(seed); }),
      "");
}

TEST(EngineModelTest, ASeedIsAProgram) {
  const SwarmRun a = RunSwarm(7), b = RunSwarm(7);
  EXPECT_EQ(a.program.Code(), b.program.Code());
  EXPECT_EQ(RunProgram(a.program), "");
}

// A tester that never comes by the interesting places proves nothing.
TEST(EngineModelTest, RandomProgramsComeByEveryKindOfStep) {
  Visited sum;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const Visited v = RunSwarm(seed).visited;
    for (size_t i = 0; i < sum.limits.size(); ++i) sum.limits[i] += v.limits[i];
    sum.preemptions += v.preemptions;
    sum.resumed_with_hit += v.resumed_with_hit;
    sum.admitted_with_hit += v.admitted_with_hit;
    sum.drafts += v.drafts;
    sum.evictions += v.evictions;
    sum.swaps_out += v.swaps_out;
    sum.swaps_in += v.swaps_in;
    sum.host_full += v.host_full;
  }
  for (int i = 0; i < kNumAdmissionLimits; ++i) {
    const auto limit = static_cast<AdmissionLimit>(i);
    if (limit == AdmissionLimit::kStateDeferral) continue;  // one group only
    EXPECT_GE(sum.limits[static_cast<size_t>(i)], 10)
        << AdmissionLimitName(limit);
  }
  EXPECT_GE(sum.preemptions, 100);
  EXPECT_GE(sum.resumed_with_hit, 100);
  EXPECT_GE(sum.admitted_with_hit, 100);
  EXPECT_GE(sum.drafts, 100);
  EXPECT_GE(sum.evictions, 100);
  EXPECT_GE(sum.swaps_out, 100);
  EXPECT_GE(sum.swaps_in, 100);
  EXPECT_GE(sum.host_full, 50);
}

// --- the tester can fail ------------------------------------------------------------

// An engine that is right about everything but one setting.
SubjectFactory With(void (*twist)(vllm::Settings*)) {
  return [twist](const vllm::Settings& settings) {
    vllm::Settings twisted = settings;
    twist(&twisted);
    return MakeVllmEngine(twisted);
  };
}

struct Fault {
  const char* name;
  void (*twist)(vllm::Settings*);
};
const Fault kFaults[] = {
    {"releases everything to the back",
     [](vllm::Settings* s) { s->free_order = FreeOrder::kAppend; }},
    {"does not drop the last hit of a draft model",
     [](vllm::Settings* s) {
       s->speculative_method = vllm::SpeculativeMethod::kNgram;
     }},
    {"forgets the gate",
     [](vllm::Settings* s) { s->reserve_full_sequence = false; }},
    {"forgets the watermark", [](vllm::Settings* s) { s->watermark = 0; }},
    {"takes the latest for the least important",
     [](vllm::Settings* s) { s->policy = vllm::SchedulingPolicy::kFcfs; }},
    {"schedules one token too many",
     [](vllm::Settings* s) { ++s->max_num_batched_tokens; }},
    {"does not wait for outputs",
     [](vllm::Settings* s) { s->async_scheduling = false; }},
    {"counts padding as rows",
     [](vllm::Settings* s) {
       s->geometry.row_bytes += s->geometry.page_padding;
       s->geometry.page_padding = 0;
     }},
};

class FaultTest : public ::testing::TestWithParam<Fault> {};

TEST_P(FaultTest, IsFoundAndShrunkToAFewOperations) {
  const SubjectFactory faulty = With(GetParam().twist);
  const auto fails = [&faulty](const Program& p) {
    return !RunProgram(p, faulty).empty();
  };
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const SwarmRun run = RunSwarm(seed, faulty);
    if (run.difference.empty()) continue;
    const Program small = Shrink(run.program, fails);
    EXPECT_TRUE(fails(small));
    EXPECT_EQ(RunProgram(small), "") << "not the engine's own fault";
    EXPECT_LE(small.operations.size(), 20u) << small.Code();
    std::cout << GetParam().name << ": seed " << seed << ", "
              << run.program.operations.size() << " operations shrunk to "
              << small.operations.size() << "\n";
    return;
  }
  FAIL() << GetParam().name << " was not found in 60 seeds";
}

INSTANTIATE_TEST_SUITE_P(All, FaultTest, ::testing::ValuesIn(kFaults));

}  // namespace
}  // namespace kvsim
