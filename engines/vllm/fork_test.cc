// Forks with block ids worked out by hand. Blocks have 4 tokens; the pool hands out
// 1, 2, 3, … at first, and a block given back without a key comes next.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "engines/token_chain.h"
#include "engines/vllm/engine.h"

namespace kvsim::vllm {
namespace {

using Ids = std::vector<BlockId>;
using Copies = std::vector<BlockCopy>;

class ForkTest : public ::testing::Test {
 protected:
  ForkTest() {
    settings_.num_gpu_blocks = 40;
    settings_.block_size = 4;
    settings_.max_model_len = 100;
  }
  void Start() { engine_ = *VllmEngine::Create(settings_); }

  void Add(RequestId id, int64_t num_prompt, int64_t max_tokens = 20) {
    std::vector<int64_t> tokens;
    for (int64_t i = 0; i < num_prompt; ++i) tokens.push_back(i);
    ASSERT_EQ(engine_->Add(Params(id, tokens, num_prompt, max_tokens)),
              Engine::Admission::kQueued);
  }
  Engine::Forked Fork(RequestId parent, RequestId child) {
    const Told& from = told_[static_cast<size_t>(parent)];
    std::vector<int64_t> tokens = from.keys->tokens();
    // The last output is the child's own.
    tokens.resize(
        static_cast<size_t>(from.num_prompt + engine_->NumOutputs(parent) - 1));
    return engine_->Fork(parent, Params(child, tokens, from.num_prompt, 20));
  }
  // One step; every sequence that samples gives one token.
  StepPlan Step() {
    StepPlan plan;
    engine_->Schedule(&plan);
    std::vector<int32_t> sampled;
    for (const auto& work : plan.scheduled) sampled.push_back(work.samples);
    std::vector<RequestId> finished;
    engine_->Complete(plan, sampled, &finished);
    EXPECT_EQ(engine_->CheckInvariants(), "");
    return plan;
  }
  Ids Table(RequestId id, int group = 0) {
    const auto table = engine_->BlockTable(id, group);
    return Ids(table.begin(), table.end());
  }
  int64_t Bytes(Account account) { return engine_->Ledger()[account]; }
  int64_t Shared() { return engine_->Ledger()[OfWhich::kSharedRows]; }
  int64_t Saved() { return engine_->Ledger()[OfWhich::kSharingSaved]; }

  Settings settings_;
  std::unique_ptr<VllmEngine> engine_;

 private:
  struct Told {
    int64_t num_prompt = 0;
    std::unique_ptr<TokenChain> keys;
  };

  RequestParams Params(RequestId id, std::vector<int64_t> tokens,
                       int64_t num_prompt, int64_t max_tokens) {
    while (static_cast<int64_t>(tokens.size()) < num_prompt + max_tokens) {
      tokens.push_back(1000 * (id + 1) + static_cast<int64_t>(tokens.size()));
    }
    if (told_.size() <= static_cast<size_t>(id)) {
      told_.resize(static_cast<size_t>(id) + 1);
    }
    Told& told = told_[static_cast<size_t>(id)];
    told.num_prompt = num_prompt;
    told.keys = std::make_unique<TokenChain>(
        tokens, settings_.Normalized()->HashTokens());
    return {.id = id,
            .num_prompt_tokens = num_prompt,
            .max_tokens = max_tokens,
            .keys = told.keys.get()};
  }

  std::vector<Told> told_;
};

// Kwon et al. 2023, figure 8: the first to write takes a copy, the other one is
// the last owner then and writes in place.
TEST_F(ForkTest, OneOfTwoWritersCopiesAPartialTail) {
  Start();
  Add(0, 6);
  Step();
  ASSERT_EQ(Fork(0, 1), Engine::Forked::kRuns);
  EXPECT_EQ(Table(0), (Ids{1, 2}));
  EXPECT_EQ(Table(1), (Ids{1, 2}));
  EXPECT_EQ(engine_->NumOutputs(1), 1);
  EXPECT_EQ(Bytes(Account::kLive), 6);  // counted once
  EXPECT_EQ(Bytes(Account::kTailSlack), 2);
  EXPECT_EQ(Shared(), 6);
  EXPECT_EQ(Saved(), 6);

  EXPECT_EQ(Step().copies, (Copies{{0, 2, 3}}));
  EXPECT_EQ(Table(0), (Ids{1, 3}));
  EXPECT_EQ(Table(1), (Ids{1, 2}));
  EXPECT_EQ(Bytes(Account::kLive), 4 + 3 + 3);
  EXPECT_EQ(Bytes(Account::kTailSlack), 1 + 1);
  EXPECT_EQ(Shared(), 4);
  EXPECT_EQ(Saved(), 4);
  EXPECT_EQ(Step().copies, Copies{});
}

TEST_F(ForkTest, AFullTailIsNeverCopied) {
  Start();
  Add(0, 8);
  Step();
  ASSERT_EQ(Fork(0, 1), Engine::Forked::kRuns);
  EXPECT_EQ(Step().copies, Copies{});
  EXPECT_EQ(Table(0), (Ids{1, 2, 3}));
  EXPECT_EQ(Table(1), (Ids{1, 2, 4}));
  EXPECT_EQ(Saved(), 8);
}

// n samples of a prompt of P tokens, blocks of B: sharing saves (n - 1)·P rows
// until somebody writes, then (n - 1)·floor(P/B)·B; n - 1 blocks are copied when
// P mod B > 0.
TEST_F(ForkTest, SamplesSaveAllButOnePrompt) {
  Start();
  Add(0, 15);
  Step();
  for (RequestId child : {1, 2, 3}) Fork(0, child);
  EXPECT_EQ(Saved(), 3 * 15);
  EXPECT_EQ(Step().copies.size(), 3u);
  EXPECT_EQ(Saved(), 3 * 12);
  EXPECT_EQ(Shared(), 12);
  const EngineCounts counts = engine_->Counts();
  EXPECT_EQ(counts.forks, 3);
  EXPECT_EQ(counts.forked_blocks, 3 * 4);
  EXPECT_EQ(counts.fork_copies, 3);
}

// Blocks filled after the fork differ and are not hit by the other sample; the
// shared ones keep their one key.
TEST_F(ForkTest, SamplesHaveKeysOfTheirOwn) {
  Start();
  Add(0, 6);
  Step();
  Fork(0, 1);
  Step();
  Step();
  EXPECT_EQ(engine_->Counts().cached_keys, 3);
  EXPECT_EQ(engine_->Ledger()[OfWhich::kDuplicates], 0);
}

// One of two beams loses, the other goes on twice.
TEST_F(ForkTest, BeamsComeAndGo) {
  Start();
  Add(0, 6);
  Step();
  Fork(0, 1);
  Step();  // 0 in {1, 3}, 1 in {1, 2}
  engine_->Drop(0);
  EXPECT_EQ(Saved(), 0);
  ASSERT_EQ(Fork(1, 2), Engine::Forked::kRuns);
  EXPECT_EQ(Saved(), 7);
  EXPECT_EQ(Step().copies, (Copies{{0, 2, 3}}));
  EXPECT_EQ(Table(1), (Ids{1, 3}));
  EXPECT_EQ(Table(2), (Ids{1, 2}));
  engine_->Drop(1);
  engine_->Drop(2);
  EXPECT_FALSE(engine_->HasUnfinished());
  EXPECT_EQ(engine_->Counts().free_blocks, 39);
}

// A name may be used again once what had it is gone.
TEST_F(ForkTest, ABeamTakesTheNameOfTheLoser) {
  Start();
  Add(0, 6);
  Step();
  Fork(0, 1);
  Step();
  engine_->Drop(0);
  ASSERT_EQ(Fork(1, 0), Engine::Forked::kRuns);
  EXPECT_EQ(engine_->NumOutputs(0), 2);
  EXPECT_EQ(Table(0), Table(1));
}

// A state is written in place at every step: the child has its own at once.
TEST_F(ForkTest, ARunningStateIsCopiedAtTheFork) {
  settings_.enable_prefix_caching = false;
  settings_.groups = {{.block_tokens = 4},
                      {.kind = GroupKind::kRecurrent,
                       .block_tokens = 100,
                       .state_mode = StateMode::kNone,
                       .geometry = {.state_bytes = 3}}};
  Start();
  Add(0, 6);
  Step();  // rows in 1 and 2, the state in 3
  ASSERT_EQ(Fork(0, 1), Engine::Forked::kRuns);
  EXPECT_EQ(Table(1, 0), (Ids{1, 2}));
  EXPECT_EQ(Table(1, 1), (Ids{4}));
  EXPECT_EQ(Bytes(Account::kStateCurrent), 2 * 3);
  EXPECT_EQ(Step().copies, (Copies{{1, 3, 4}, {0, 2, 5}}));
  EXPECT_EQ(engine_->Counts().fork_copies, 2);
}

// In align mode the state of a finished block is only read: shared. One token on,
// each has a state of its own, and the old one is given back by both.
TEST_F(ForkTest, AStateOnABoundaryIsShared) {
  settings_.groups = {{.block_tokens = 4},
                      {.kind = GroupKind::kRecurrent,
                       .block_tokens = 4,
                       .geometry = {.state_bytes = 3}}};
  Start();
  Add(0, 4);
  Step();  // rows in 1, the state in 2
  ASSERT_EQ(Fork(0, 1), Engine::Forked::kRuns);
  EXPECT_EQ(Table(1, 1), (Ids{2}));
  EXPECT_EQ(Step().copies, Copies{});
  EXPECT_EQ(Table(0, 1), (Ids{2, 4}));
  EXPECT_EQ(Table(1, 1), (Ids{2, 6}));
  ASSERT_EQ(Fork(0, 2), Engine::Forked::kRuns);  // inside a block: copied
  EXPECT_EQ(Table(2, 1), (Ids{2, 7}));
  EXPECT_EQ(Step().copies, (Copies{{1, 4, 7}, {0, 3, 8}}));
}

// What a window leaves is free when the last owner has left it.
TEST_F(ForkTest, WindowsLeaveSharedBlocksOneByOne) {
  settings_.enable_prefix_caching = false;
  settings_.groups = {
      {.kind = GroupKind::kSlidingWindow, .block_tokens = 4, .window = 4}};
  Start();
  Add(0, 6);
  Step();
  ASSERT_EQ(Fork(0, 1), Engine::Forked::kRuns);
  EXPECT_EQ(Bytes(Account::kLive), 3);  // rows 3 to 5
  EXPECT_EQ(Bytes(Account::kWindowSlack), 3);
  Step();
  EXPECT_EQ(Table(0), (Ids{1, 3}));
  Step();  // 7 computed before it: rows 0 to 3 are outside
  EXPECT_EQ(Table(0), (Ids{kNullBlock, 3}));
  EXPECT_EQ(Table(1), (Ids{kNullBlock, 2}));
  EXPECT_EQ(engine_->Counts().free_blocks, 39 - 2);
}

// Who cannot run at once waits with the outputs of its parent and computes what no
// prefix serves.
TEST_F(ForkTest, AForkBeyondTheSequenceLimitWaits) {
  settings_.max_num_seqs = 1;
  Start();
  Add(0, 6, 2);
  Step();
  ASSERT_EQ(Fork(0, 1), Engine::Forked::kWaits);
  EXPECT_EQ(Table(1), Ids{});
  EXPECT_EQ(engine_->NumOutputs(1), 1);
  EXPECT_EQ(engine_->WaitingHead(), 1);
  EXPECT_EQ(Saved(), 0);
  Step();  // the parent ends with its second output
  const StepPlan plan = Step();
  ASSERT_EQ(plan.admitted.size(), 1u);
  EXPECT_EQ(plan.admitted[0].hit_tokens, 4);
  EXPECT_EQ(plan.scheduled[0].num_tokens, 3);  // of 6 and 1
  EXPECT_EQ(engine_->NumOutputs(1), 2);
}

// No room for the copy: the last that runs gives way, as for any other block.
TEST_F(ForkTest, ACopyThatDoesNotFitPreempts) {
  settings_.num_gpu_blocks = 1 + 2;
  settings_.reserve_full_sequence = false;
  Start();
  Add(0, 6);
  Step();
  ASSERT_EQ(Fork(0, 1), Engine::Forked::kRuns);
  const StepPlan plan = Step();
  EXPECT_EQ(plan.preempted, (std::vector<RequestId>{1}));
  EXPECT_EQ(plan.copies, Copies{});  // 0 is the last owner now
  EXPECT_EQ(Table(0), (Ids{1, 2}));
}

// Slots for drafts behind the last row stay the parent's.
TEST_F(ForkTest, LookaheadSlotsAreNotShared) {
  settings_.num_speculative_tokens = 4;
  Start();
  Add(0, 7);
  Step();  // slots for 7 + 4
  ASSERT_EQ(Table(0), (Ids{1, 2, 3}));
  ASSERT_EQ(Fork(0, 1), Engine::Forked::kRuns);
  EXPECT_EQ(Table(1), (Ids{1, 2}));
  EXPECT_EQ(Bytes(Account::kInFlight), 4);
  EXPECT_EQ(Bytes(Account::kTailSlack), 1);
}

}  // namespace
}  // namespace kvsim::vllm
