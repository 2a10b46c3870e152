// Golden allocator traces T3, T4, T8, T9 and T12: windows, states, compressed pools
// and chunks. The traces were obtained by driving vLLM's real KVCacheManager
// (2026-08-17); P is one stream of tokens and P[:k] its first k, so equal slices
// share a prefix. Blocks of 4 tokens unless a test says otherwise; 0 in a table is
// the null block.
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "engines/token_chain.h"
#include "engines/vllm/kv_cache_manager.h"
#include "engines/vllm/token_stream_for_test.h"

namespace kvsim::vllm {
namespace {

using Ids = std::vector<BlockId>;
using Tokens = TokenList;

CacheGroup Full(int64_t block = 4) { return {.block_tokens = block}; }
CacheGroup Window(int64_t window, int64_t block = 4) {
  return {.kind = GroupKind::kSlidingWindow,
          .block_tokens = block,
          .window = window};
}
CacheGroup Chunk(int64_t chunk, int64_t block = 4) {
  return {
      .kind = GroupKind::kChunkedLocal, .block_tokens = block, .chunk = chunk};
}
CacheGroup Recurrent(int64_t block = 4) {
  return {.kind = GroupKind::kRecurrent, .block_tokens = block};
}

struct Story {
  int64_t num_tokens = 0;
  int64_t num_computed = 0;
  std::unique_ptr<TokenChain> keys;
  RequestBlocks blocks;
};

class CacheGroupsTest : public ::testing::Test {
 protected:
  void Pool(int64_t n, const std::vector<CacheGroup>& groups) {
    settings_.num_gpu_blocks = n;
    settings_.groups = groups;
    settings_.max_model_len = 100'000;
    cache_.emplace(settings_);
  }
  Story* Prompt(const Tokens& prompt) {
    Story& story = stories_.emplace_back();
    const auto who = static_cast<int64_t>(stories_.size());
    story.num_tokens = static_cast<int64_t>(prompt.size());
    story.keys = std::make_unique<TokenChain>(prompt + Others(2000, 10 + who),
                                              cache_->units().hash_tokens);
    story.blocks.id = who;
    story.blocks.keys = story.keys.get();
    story.blocks.num_prompt = story.num_tokens;
    return &story;
  }
  int64_t Hit(Story* s) {
    return cache_->FindHit(s->blocks, s->num_tokens).tokens;
  }
  int64_t Junction(Story* s) {
    return cache_->FindHit(s->blocks, s->num_tokens).junction;
  }
  // One allocate_slots of n tokens; the first of a request admits it, each is a
  // step of its own.
  void Sched(Story* s, int64_t n) {
    cache_->StartStep();
    Refusal refusal;
    if (s->blocks.holder == RequestBlocks::kHoldsNothing) {
      s->num_computed = Hit(s);
      refusal = cache_->Admit(&s->blocks, s->num_tokens, n, 0);
    } else {
      refusal = cache_->Extend(&s->blocks, s->num_tokens, s->num_computed,
                               s->num_computed, n);
    }
    ASSERT_EQ(refusal, Refusal::kNone);
    std::vector<BlockCopy> copies;
    cache_->EndStep(&copies);
    s->num_computed += n;
    cache_->CompleteRows(&s->blocks, n);
    EXPECT_TRUE(cache_->Ledger().Balanced());
  }
  void Prefill(Story* s, int64_t chunk) {
    int64_t left = s->num_tokens - Hit(s);
    for (; left > 0; left -= std::min(left, chunk)) {
      Sched(s, std::min(left, chunk));
    }
  }
  void Decode(Story* s, int64_t n) {
    for (; n > 0; --n) {
      ++s->num_tokens;
      Sched(s, 1);
    }
  }
  void Free(Story* s) { cache_->Free(&s->blocks); }

  const Ids& Table(const Story* s, size_t group) {
    return s->blocks.groups[group].table;
  }
  std::vector<int64_t> Live(const Story* s) {
    std::vector<int64_t> live;
    for (const GroupBlocks& group : s->blocks.groups) {
      live.push_back(static_cast<int64_t>(group.table.size()) -
                     std::count(group.table.begin(), group.table.end(), 0u));
    }
    return live;
  }
  std::vector<int64_t> Keyed(const Story* s) {
    std::vector<int64_t> keyed;
    for (const GroupBlocks& group : s->blocks.groups) {
      keyed.push_back(std::count_if(
          group.table.begin(), group.table.end(),
          [&](BlockId id) { return id != 0 && cache_->pool().HasAnyKey(id); }));
    }
    return keyed;
  }
  Ids FreeQueue() { return cache_->pool().FreeQueue(); }

  void TearDown() override {
    EXPECT_EQ(cache_->pool().CheckInvariants(), "");
    EXPECT_TRUE(cache_->Ledger().Balanced());
  }

  Settings settings_;
  std::optional<KvCacheManager> cache_;
  std::list<Story> stories_;
};

// Without align mode keys span the least common multiple of the blocks, and a
// block of 7 tokens has none.
TEST(CacheGroupSettings, BlocksWithoutKeysAreRefused) {
  Settings settings;
  settings.num_gpu_blocks = 20;
  settings.groups = {{.block_tokens = 7},
                     {.kind = GroupKind::kRecurrent,
                      .block_tokens = 8,
                      .state_mode = StateMode::kAll}};
  const auto refused = settings.Normalized();
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("blocks of 7 tokens"),
            std::string::npos)
      << refused.status();
  settings.enable_prefix_caching = false;
  EXPECT_TRUE(settings.Normalized().ok());
  settings.enable_prefix_caching = true;
  settings.groups[0].block_tokens = 8;
  EXPECT_TRUE(settings.Normalized().ok());
}

TEST_F(CacheGroupsTest, T3OneWindowReusesItsBlocksAndKeepsTheLastBoundary) {
  Pool(20, {Window(8)});
  Story* a = Prompt(P(30));
  Sched(a, 8);
  EXPECT_EQ(Table(a, 0), (Ids{1, 2}));
  Sched(a, 8);
  EXPECT_EQ(Table(a, 0), (Ids{1, 2, 3, 4}));
  Sched(a, 8);
  EXPECT_EQ(Table(a, 0), (Ids{0, 0, 3, 4, 2, 1}));
  EXPECT_EQ(cache_->pool().num_keyed_blocks(), 1);
  Sched(a, 6);
  EXPECT_EQ(Table(a, 0), (Ids{0, 0, 0, 0, 2, 1, 4, 3}));
  EXPECT_EQ(cache_->pool().num_keyed_blocks(), 2);
  Decode(a, 4);
  EXPECT_EQ(Table(a, 0), (Ids{0, 0, 0, 0, 0, 0, 4, 3, 2}));
  Free(a);
  const Ids queue = FreeQueue();
  EXPECT_EQ((Ids{queue[0], queue[1]}), (Ids{2, 3}));  // no key
  EXPECT_EQ((Ids{queue.end() - 2, queue.end()}), (Ids{1, 4}));
  EXPECT_EQ(Hit(Prompt(P(30))), 28);
  EXPECT_EQ(Hit(Prompt(P(22))), 0);
}

TEST_F(CacheGroupsTest, T3DenseRetentionKeysEveryBlock) {
  settings_.retention_interval.reset();
  Pool(20, {Window(8)});
  Story* a = Prompt(P(30));
  Sched(a, 8);
  Sched(a, 8);
  Sched(a, 8);
  EXPECT_EQ(Table(a, 0), (Ids{0, 0, 3, 4, 5, 6}));
  Sched(a, 6);
  Free(a);
  EXPECT_EQ(Hit(Prompt(P(22))), 20);
}

TEST_F(CacheGroupsTest, T4TheSecondSiblingOfAPrefixHitsTheJunction) {
  Pool(40, {Full(), Window(8)});
  Story* a = Prompt(P(30));
  Sched(a, 16);
  EXPECT_EQ(Table(a, 0), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(Table(a, 1), (Ids{5, 6, 7, 8}));
  Sched(a, 14);
  EXPECT_EQ(Table(a, 0), (Ids{1, 2, 3, 4, 6, 5, 9, 10}));
  EXPECT_EQ(Table(a, 1), (Ids{0, 0, 7, 8, 11, 12, 13, 14}));
  Free(a);
  Story* c = Prompt(P(22) + Others(6, 0));
  EXPECT_EQ(Hit(c), 0);
  EXPECT_EQ(Junction(c), 20);
  Prefill(c, 28);
  // ceil(7 / 4) = 2 blocks end at 20, 2 at floor(27 / 4)·4 = 24: 3 in all.
  EXPECT_EQ(Keyed(c)[1], 3);
  Free(c);
  Story* d = Prompt(P(22) + Others(6, 1));
  EXPECT_EQ(Hit(d), 20);
  Prefill(d, 28);
  EXPECT_EQ((Ids{Table(d, 1).begin(), Table(d, 1).begin() + 3}),
            (Ids{0, 0, 0}));
}

TEST_F(CacheGroupsTest, T8AStateMovesOnAndItsOldBlockServesAnyGroup) {
  Pool(40, {Full(), Recurrent()});
  Story* a = Prompt(P(18));
  Sched(a, 8);
  EXPECT_EQ(Table(a, 0), (Ids{1, 2}));
  EXPECT_EQ(Table(a, 1), (Ids{0, 3}));
  Sched(a, 8);
  EXPECT_EQ(Table(a, 0), (Ids{1, 2, 4, 5}));
  EXPECT_EQ(Table(a, 1), (Ids{0, 3, 0, 6}));
  Sched(a, 2);
  EXPECT_EQ(Table(a, 0), (Ids{1, 2, 4, 5, 3}));
  EXPECT_EQ(Table(a, 1), (Ids{0, 0, 0, 6, 7}));
  EXPECT_EQ(Hit(Prompt(P(18))), 16);
  Story* c = Prompt(P(14) + Others(6, 0));
  EXPECT_EQ(Hit(c), 0);
  EXPECT_EQ(Junction(c), 12);
}

TEST_F(CacheGroupsTest, T8DenseRetentionKeepsTheStateOfEveryChunk) {
  settings_.retention_interval.reset();
  Pool(40, {Full(), Recurrent()});
  Story* a = Prompt(P(18));
  Sched(a, 8);
  Sched(a, 8);
  Sched(a, 2);
  EXPECT_EQ(Hit(Prompt(P(14) + Others(6, 0))), 8);
}

TEST_F(CacheGroupsTest, T8StatesOfDraftsMoveToTheEndOfTheTable) {
  settings_.num_speculative_tokens = 2;
  Pool(40, {Full(), Recurrent()});
  Story* a = Prompt(P(18));
  Sched(a, 8);
  EXPECT_EQ(Table(a, 1), (Ids{0, 4, 5, 6}));
  Sched(a, 8);
  EXPECT_EQ(Table(a, 1), (Ids{0, 4, 0, 6, 5, 9}));
  Sched(a, 2);
  EXPECT_EQ(Table(a, 1), (Ids{0, 0, 0, 6, 5, 9, 4}));
}

// Compressed latents in blocks of 256 tokens, two windows of 128 in blocks of 64,
// compressor states as windows of 8 tokens (blocks of 4) and of 128 (blocks of 8).
TEST_F(CacheGroupsTest, T9CompressedPoolsHitAtMultiplesOf256Tokens) {
  Pool(3000, {Full(256), Window(128, 64), Window(128, 64), Window(8, 4),
              Window(128, 8)});
  EXPECT_EQ(cache_->units().hash_tokens, 4);
  EXPECT_EQ(cache_->units().scheduler_tokens, 256);
  EXPECT_FALSE(cache_->units().fine_hits);
  using Counts = std::vector<int64_t>;
  Story* a = Prompt(P(3000));
  Sched(a, 1024);
  EXPECT_EQ(Live(a), (Counts{4, 16, 16, 256, 128}));
  Sched(a, 1024);
  EXPECT_EQ(Live(a), (Counts{8, 18, 18, 258, 144}));
  Sched(a, 952);
  EXPECT_EQ(Live(a), (Counts{12, 17, 17, 240, 135}));
  // Eleven whole blocks and the key of token 3,000 inside the twelfth; windows
  // keep what ends at floor(2999 / 256)·256 = 2,816.
  EXPECT_EQ(Keyed(a), (Counts{12, 2, 2, 2, 16}));
  EXPECT_EQ(cache_->pool().num_keyed_blocks(), 11 + 2 + 2 + 2 + 16);
  EXPECT_EQ(Hit(Prompt(P(3000))), 2816);
  Story* shorter = Prompt(P(2100));
  EXPECT_EQ(Hit(shorter), 0);
  EXPECT_EQ(Junction(shorter), 2048);
  Decode(a, 1200);
  EXPECT_EQ(Live(a), (Counts{17, 3, 3, 2, 16}));
}

TEST_F(CacheGroupsTest, T12AChunkForgetsTheChunksBeforeIt) {
  Pool(40, {Full(), Chunk(8)});
  Story* a = Prompt(P(22));
  Sched(a, 10);
  Sched(a, 12);
  EXPECT_EQ(Table(a, 1), (Ids{0, 0, 6, 10, 11, 12}));
  Decode(a, 1);
  EXPECT_EQ(Table(a, 1), (Ids{0, 0, 0, 0, 11, 12}));
  EXPECT_EQ(Hit(Prompt(P(22))), 20);
  Story* c = Prompt(P(17));
  EXPECT_EQ(Hit(c), 16);
  Sched(c, 1);
  EXPECT_EQ((Ids{Table(c, 1).begin(), Table(c, 1).begin() + 4}),
            (Ids{0, 0, 0, 0}));
  EXPECT_EQ(Table(c, 1).size(), 5u);
}

}  // namespace
}  // namespace kvsim::vllm
