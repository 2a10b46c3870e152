// Preemption by swap, with block numbers worked out by hand: blocks of 4 tokens,
// device blocks from 1, host blocks from 0, lowest first.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "engines/token_chain.h"
#include "engines/vllm/engine.h"

namespace kvsim::vllm {
namespace {

using Swaps = std::vector<BlockSwap>;
using Ids = std::vector<RequestId>;
using Blocks = std::vector<BlockId>;

class SwapTest : public ::testing::Test {
 protected:
  void Start(int64_t usable_blocks, int64_t host_blocks) {
    Settings settings;
    settings.num_gpu_blocks = 1 + usable_blocks;
    settings.block_size = 4;
    settings.max_model_len = 100;
    settings.preemption_mode = PreemptionMode::kSwap;
    settings.host_blocks = host_blocks;
    Start(settings);
  }
  void Start(const Settings& settings) {
    auto engine = VllmEngine::Create(settings);
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
  }

  // `shared` tokens of one stream, then tokens of its own.
  void Add(RequestId id, int64_t shared, int64_t own, int64_t max_tokens,
           int64_t priority = 0) {
    std::vector<int64_t> tokens;
    for (int64_t i = 0; i < shared; ++i) tokens.push_back(i);
    for (int64_t i = 0; i < own + max_tokens; ++i) {
      tokens.push_back(1000 * (id + 1) + i);
    }
    chains_.push_back(std::make_unique<TokenChain>(tokens, 4));
    RequestParams params;
    params.id = id;
    params.num_prompt_tokens = shared + own;
    params.max_tokens = max_tokens;
    params.priority = priority;
    params.keys = chains_.back().get();
    ASSERT_EQ(engine_->Add(params), Engine::Admission::kQueued);
  }

  // One synchronous step; what finished with it.
  Ids Step() {
    engine_->Schedule(&plan_);
    std::vector<int32_t> sampled;
    for (const ScheduledRequest& work : plan_.scheduled) {
      sampled.push_back(work.samples ? 1 : 0);
    }
    Ids finished;
    engine_->Complete(plan_, sampled, &finished);
    EXPECT_EQ(engine_->CheckInvariants(), "");
    return finished;
  }

  Blocks Table(RequestId id) const {
    const auto table = engine_->BlockTable(id, 0);
    return {table.begin(), table.end()};
  }

  std::unique_ptr<VllmEngine> engine_;
  std::vector<std::unique_ptr<TokenChain>> chains_;
  StepPlan plan_;
};

// The victim holds 1 (shared with the other), 3 and 4; all three are copied, and
// what was shared stays the other's.
TEST_F(SwapTest, AVictimOfThreeBlocksComesBackToOthers) {
  Start(5, 3);
  Add(0, 8, 0, 6);
  Add(1, 4, 5, 9);
  for (int step = 1; step <= 4; ++step) EXPECT_EQ(Step(), Ids());
  EXPECT_EQ(Table(0), Blocks({1, 2, 5}));
  EXPECT_EQ(Table(1), Blocks({1, 3, 4}));

  Step();  // its thirteenth token finds no block
  EXPECT_EQ(plan_.preempted, Ids({1}));
  ASSERT_EQ(plan_.swapped_out.size(), 1u);
  EXPECT_EQ(plan_.swapped_out[0].id, 1);
  EXPECT_EQ(plan_.swapped_out[0].num_tokens, 12);
  EXPECT_EQ(plan_.swapped_out[0].blocks,
            Swaps({{0, 1, 0}, {0, 3, 1}, {0, 4, 2}}));
  EXPECT_EQ(Table(1), Blocks());
  EXPECT_EQ(engine_->Counts().host_blocks, 3);
  EXPECT_EQ(engine_->Inspect().free_queue, Blocks({4, 3}));  // tail first

  EXPECT_EQ(Step(), Ids({0}));  // took 4; what is left is not enough for 1
  EXPECT_EQ(plan_.limit, AdmissionLimit::kBlocks);
  EXPECT_EQ(engine_->Inspect().free_queue, Blocks({4, 3, 5, 2, 1}));

  Step();
  EXPECT_TRUE(plan_.resumed.empty());
  ASSERT_EQ(plan_.swapped_in.size(), 1u);
  EXPECT_EQ(plan_.swapped_in[0].num_tokens, 12);
  EXPECT_EQ(plan_.swapped_in[0].blocks,
            Swaps({{0, 4, 0}, {0, 3, 1}, {0, 5, 2}}));
  ASSERT_EQ(plan_.scheduled.size(), 1u);
  EXPECT_EQ(plan_.scheduled[0].first_token, 12);  // nothing is computed again
  EXPECT_EQ(plan_.scheduled[0].num_tokens, 1);
  EXPECT_EQ(Table(1), Blocks({4, 3, 5, 2}));
  EXPECT_EQ(engine_->Counts().host_blocks, 0);
  EXPECT_EQ(engine_->Ledger()[Account::kLive], 13);
  // Its first block is cached twice now: block 1 still has the key.
  EXPECT_EQ(engine_->Ledger()[OfWhich::kDuplicates], 4);
}

TEST_F(SwapTest, WithoutRoomInHostMemoryTheVictimIsRecomputed) {
  Start(5, 2);
  Add(0, 8, 0, 6);
  Add(1, 4, 5, 9);
  for (int step = 1; step <= 5; ++step) Step();
  EXPECT_EQ(plan_.preempted, Ids({1}));
  EXPECT_TRUE(plan_.swapped_out.empty());
  EXPECT_EQ(engine_->Counts().host_blocks, 0);
  Step();
  Step();
  ASSERT_EQ(plan_.resumed.size(), 1u);
  EXPECT_EQ(plan_.resumed[0].id, 1);
  EXPECT_TRUE(plan_.swapped_in.empty());
}

// 2 and then 1 are swapped out; 3 waits, and would fit all the time.
TEST_F(SwapTest, WhatIsSwappedOutRunsBeforeWhatWaits) {
  Start(4, 9);
  for (RequestId id = 0; id < 3; ++id) Add(id, 0, 4, 6);
  Step();
  Step();
  ASSERT_EQ(plan_.swapped_out.size(), 1u);
  EXPECT_EQ(plan_.swapped_out[0].blocks, Swaps({{0, 3, 0}}));
  Add(3, 0, 1, 1);
  for (int step = 3; step <= 5; ++step) Step();
  EXPECT_EQ(Step(), Ids({0}));
  ASSERT_EQ(plan_.swapped_out.size(), 1u);
  EXPECT_EQ(plan_.swapped_out[0].id, 1);
  EXPECT_EQ(plan_.swapped_out[0].blocks, Swaps({{0, 2, 1}, {0, 3, 2}}));
  EXPECT_EQ(plan_.limit, AdmissionLimit::kPreemption);

  EXPECT_EQ(Step(), Ids({1}));  // the last one out is the first one in
  ASSERT_EQ(plan_.swapped_in.size(), 1u);
  EXPECT_EQ(plan_.swapped_in[0].id, 1);
  EXPECT_EQ(plan_.limit, AdmissionLimit::kBlocks);
  EXPECT_TRUE(plan_.admitted.empty());  // one block is free, and 2 needs two
  EXPECT_EQ(engine_->WaitingHead(), 2);

  Step();
  ASSERT_EQ(plan_.swapped_in.size(), 1u);
  EXPECT_EQ(plan_.swapped_in[0].id, 2);
  ASSERT_EQ(plan_.admitted.size(), 1u);
  EXPECT_EQ(plan_.admitted[0].id, 3);
}

TEST_F(SwapTest, DroppingAVictimFreesItsHostBlocks) {
  Start(5, 3);
  Add(0, 8, 0, 6);
  Add(1, 4, 5, 9);
  for (int step = 1; step <= 5; ++step) Step();
  EXPECT_EQ(engine_->Counts().host_blocks, 3);
  EXPECT_EQ(engine_->AbortHead(), 1);
  EXPECT_EQ(engine_->Counts().host_blocks, 0);
  EXPECT_EQ(engine_->Counts().waiting, 0);
}

// By priority the victim had its blocks for this step already: they hold nothing
// and do not move, nor does what its window left.
TEST_F(SwapTest, OnlyWhatIsComputedAndNeededMoves) {
  Settings settings;
  settings.num_gpu_blocks = 1 + 4;
  settings.block_size = 4;
  settings.max_model_len = 100;
  settings.enable_prefix_caching = false;
  settings.reserve_full_sequence = false;
  settings.policy = SchedulingPolicy::kPriority;
  settings.max_num_batched_tokens = 12;
  settings.long_prefill_token_threshold = 8;
  settings.preemption_mode = PreemptionMode::kSwap;
  settings.host_blocks = 9;
  settings.groups = {
      {.kind = GroupKind::kSlidingWindow, .block_tokens = 4, .window = 4}};
  Start(settings);
  Add(0, 0, 40, 1, /*priority=*/9);
  Step();
  Add(1, 0, 8, 1, /*priority=*/1);
  Step();
  EXPECT_EQ(Table(0), Blocks({0, 2, 1, 3}));
  EXPECT_EQ(Table(1), Blocks({4}));

  EXPECT_EQ(Step(), Ids({1}));
  EXPECT_EQ(plan_.preempted, Ids({0}));
  ASSERT_EQ(plan_.swapped_out.size(), 1u);
  EXPECT_EQ(plan_.swapped_out[0].num_tokens, 16);
  EXPECT_EQ(plan_.swapped_out[0].blocks, Swaps({{0, 3, 0}}));

  Step();
  ASSERT_EQ(plan_.swapped_in.size(), 1u);
  EXPECT_EQ(plan_.swapped_in[0].blocks, Swaps({{0, 2, 0}}));
  EXPECT_EQ(Table(0), Blocks({0, 0, 0, 2, 4, 1}));
  EXPECT_EQ(plan_.scheduled[0].first_token, 16);
}

TEST_F(SwapTest, AsynchronousSchedulingIsRefused) {
  Settings settings;
  settings.num_gpu_blocks = 8;
  settings.preemption_mode = PreemptionMode::kSwap;
  settings.async_scheduling = true;
  const absl::Status status = settings.Validate();
  EXPECT_NE(status.message().find("--preemption-mode swap"),
            absl::string_view::npos)
      << status;
}

}  // namespace
}  // namespace kvsim::vllm
