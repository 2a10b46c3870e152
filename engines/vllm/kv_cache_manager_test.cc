// Golden allocator traces T1, T2, T5, T6, T7, T10, T11 and the rules around
// them. The traces were obtained by driving vLLM's real KVCacheManager
// (2026-08-17) with blocks of 4 tokens; P is one stream of tokens and P[:k] its
// first k, so equal slices share a prefix.
#include "engines/vllm/kv_cache_manager.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engines/token_chain.h"
#include "engines/vllm/token_stream_for_test.h"

namespace kvsim::vllm {
namespace {

using Ids = std::vector<BlockId>;
using Tokens = TokenList;

// What the scheduler would remember of a request.
struct Story {
  int64_t num_tokens = 0;  // known: prompt and outputs
  int64_t num_computed = 0;
  std::unique_ptr<TokenChain> keys;
  RequestBlocks blocks;
};

class KvCacheManagerTest : public ::testing::Test {
 protected:
  // A pool of N blocks, block 0 included.
  void Pool(int64_t n, int64_t block_size = 4) {
    settings_.num_gpu_blocks = n;
    settings_.block_size = block_size;
    settings_.max_model_len = 1000;
    cache_.emplace(settings_);
  }
  // A prompt, and room in the chain for outputs behind it.
  Story* Prompt(const Tokens& prompt) {
    Story& story = stories_.emplace_back();
    const auto who = static_cast<int64_t>(stories_.size());
    story.num_tokens = static_cast<int64_t>(prompt.size());
    story.keys = std::make_unique<TokenChain>(prompt + Others(40, -10 - who),
                                              settings_.block_size);
    story.blocks.id = who;
    story.blocks.keys = story.keys.get();
    return &story;
  }

  // Tokens that the cache would serve.
  int64_t Hit(Story* s) {
    return cache_->FindHit(s->blocks, s->num_tokens).tokens;
  }
  // Admits with a chunk of at most n tokens behind the hit.
  Refusal Admit(Story* s, int64_t chunk = 1000, int64_t watermark = 0) {
    const int64_t hit = Hit(s);
    const int64_t n = std::min(chunk, s->num_tokens - hit);
    const Refusal refusal =
        cache_->Admit(&s->blocks, s->num_tokens, n, watermark);
    if (refusal == Refusal::kNone) s->num_computed = hit + n;
    return refusal;
  }
  // One more output, and the slot that it needs.
  Refusal Decode(Story* s) {
    ++s->num_tokens;
    const Refusal refusal = Extend(s, s->num_tokens, s->num_computed, 1);
    if (refusal == Refusal::kNone) ++s->num_computed;
    return refusal;
  }
  void Free(Story* s) { cache_->Free(&s->blocks); }

  Refusal Extend(Story* s, int64_t num_tokens, int64_t num_computed,
                 int64_t num_new) {
    return cache_->Extend(&s->blocks, num_tokens, num_computed, num_computed,
                          num_new);
  }

  const Ids& Table(const Story* s, size_t group = 0) {
    return s->blocks.groups[group].table;
  }
  Ids FreeQueue() { return pool().FreeQueue(); }
  const BlockPool& pool() { return cache_->pool(); }

  void TearDown() override {
    EXPECT_EQ(pool().CheckInvariants(), "");
    EXPECT_TRUE(cache_->Ledger().Balanced());
  }

  Settings settings_;
  std::optional<KvCacheManager> cache_;
  std::list<Story> stories_;
};

// --- golden traces ----------------------------------------------------------------

TEST_F(KvCacheManagerTest, T1OneGroupLivesAndDies) {
  Pool(10);
  Story* a = Prompt(P(10));
  ASSERT_EQ(Admit(a), Refusal::kNone);
  EXPECT_EQ(Table(a), (Ids{1, 2, 3}));
  EXPECT_EQ(FreeQueue(), (Ids{4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(pool().num_held(), 3);          // usage 3/9
  EXPECT_EQ(pool().num_keyed_blocks(), 2);  // one event with 2 hashes
  ASSERT_EQ(Decode(a), Refusal::kNone);
  EXPECT_EQ(pool().num_keyed_blocks(), 2);  // 11 tokens
  ASSERT_EQ(Decode(a), Refusal::kNone);
  EXPECT_EQ(pool().num_keyed_blocks(), 3);  // 12 tokens: block 3 is full
  ASSERT_EQ(Decode(a), Refusal::kNone);
  EXPECT_EQ(Table(a), (Ids{1, 2, 3, 4}));
  Free(a);  // 4 had no hash: to the front; the others to the back, tail first
  EXPECT_EQ(FreeQueue(), (Ids{4, 5, 6, 7, 8, 9, 3, 2, 1}));

  Story* b = Prompt(P(8));
  EXPECT_EQ(Hit(b), 4);  // not 8: a token must be left to compute
  ASSERT_EQ(Admit(b), Refusal::kNone);
  EXPECT_EQ(Table(b), (Ids{1, 4}));
  Story* c = Prompt(P(10) + Others(2, 0));
  EXPECT_EQ(Hit(c), 8);
  ASSERT_EQ(Admit(c), Refusal::kNone);
  EXPECT_EQ(Table(c), (Ids{1, 2, 5}));
  Free(b);
  EXPECT_EQ(FreeQueue(), (Ids{6, 7, 8, 9, 3, 4}));
  Free(c);
  const Ids queue = {6, 7, 8, 9, 3, 4, 5, 2, 1};
  EXPECT_EQ(FreeQueue(), queue);

  EXPECT_EQ(Admit(Prompt(Others(40, 1))), Refusal::kGate);  // 10 > 9
  EXPECT_EQ(FreeQueue(), queue);
  Story* e = Prompt(Others(36, 2));
  ASSERT_EQ(Admit(e), Refusal::kNone);
  EXPECT_EQ(Table(e), queue);
  EXPECT_EQ(pool().evictions(), 5);  // blocks 3, 4, 5, 2, 1
  EXPECT_EQ(pool().num_held(), 9);   // usage 1.0
}

TEST_F(KvCacheManagerTest, T2TwinsKeepTheirDuplicates) {
  Pool(12);
  Story* a = Prompt(P(8));
  Story* b = Prompt(P(8));
  ASSERT_EQ(Admit(a), Refusal::kNone);
  EXPECT_EQ(Table(a), (Ids{1, 2}));
  EXPECT_EQ(Hit(b), 4);  // the block that was cached moments earlier
  ASSERT_EQ(Admit(b), Refusal::kNone);
  EXPECT_EQ(Table(b), (Ids{1, 3}));
  EXPECT_EQ(pool().num_keyed_blocks(), 3);
  EXPECT_EQ(pool().num_keys(), 2);  // blocks 2 and 3 hold one hash
  Free(a);
  Free(b);
  EXPECT_EQ(FreeQueue(), (Ids{4, 5, 6, 7, 8, 9, 10, 11, 2, 3, 1}));
  Story* c = Prompt(P(9));
  EXPECT_EQ(Hit(c), 8);
  ASSERT_EQ(Admit(c), Refusal::kNone);
  EXPECT_EQ(Table(c), (Ids{1, 2, 4}));  // 2: the first inserted
}

TEST_F(KvCacheManagerTest, T5WithoutCachingFreedBlocksGoToTheFront) {
  settings_.enable_prefix_caching = false;
  Pool(8);
  Story* a = Prompt(P(10));
  Story* b = Prompt(P(9));
  ASSERT_EQ(Admit(a), Refusal::kNone);
  EXPECT_EQ(Table(a), (Ids{1, 2, 3}));
  ASSERT_EQ(Admit(b), Refusal::kNone);
  EXPECT_EQ(Table(b), (Ids{4, 5, 6}));
  Free(a);
  EXPECT_EQ(FreeQueue(), (Ids{3, 2, 1, 7}));
  EXPECT_EQ(pool().num_keys(), 0);
}

TEST_F(KvCacheManagerTest, T5WithoutCachingOlderVersionsAppended) {
  settings_.enable_prefix_caching = false;
  settings_.free_order = FreeOrder::kPrependWhenCaching;
  Pool(8);
  Story* a = Prompt(P(10));
  ASSERT_EQ(Admit(a), Refusal::kNone);
  ASSERT_EQ(Admit(Prompt(P(9))), Refusal::kNone);
  Free(a);
  EXPECT_EQ(FreeQueue(), (Ids{7, 3, 2, 1}));
}

TEST_F(KvCacheManagerTest, T6EagleTakesLookaheadAndDropsTheLastHit) {
  settings_.num_speculative_tokens = 3;
  Pool(20);
  Story* a = Prompt(P(17));
  ASSERT_EQ(Admit(a), Refusal::kNone);
  EXPECT_EQ(Table(a).size(), 5u);  // 17 + 3 = 20 slots
  EXPECT_EQ(pool().num_keyed_blocks(), 4);
  EXPECT_EQ(Hit(Prompt(P(17))), 12);  // 16 less one block
}

TEST_F(KvCacheManagerTest, T7TheGateCountsTheWholePromptButReservesNothing) {
  Pool(8);
  EXPECT_EQ(Admit(Prompt(Others(32, 0)), 4), Refusal::kGate);  // needs 8 of 7
  Story* b = Prompt(Others(20, 1));
  ASSERT_EQ(Admit(b, 4), Refusal::kNone);  // 5 <= 7
  EXPECT_EQ(Table(b), Ids{1});
  // 3 <= 6, although b still needs 4 more.
  ASSERT_EQ(Admit(Prompt(Others(12, 2)), 4), Refusal::kNone);
  EXPECT_EQ(pool().num_free(), 5);
}

// Under DCP 2 a block of 4 tokens on each rank spans 8 tokens.
TEST_F(KvCacheManagerTest, T10ContextParallelBlocksSpanMoreTokens) {
  Pool(10, 8);
  Story* a = Prompt(P(18));
  ASSERT_EQ(Admit(a), Refusal::kNone);
  EXPECT_EQ(Table(a), (Ids{1, 2, 3}));
  EXPECT_EQ(pool().num_keyed_blocks(), 2);
  EXPECT_EQ(Hit(Prompt(P(18))), 16);
}

TEST_F(KvCacheManagerTest, T11APreemptedRequestHitsItsOwnBlocksButMustWait) {
  Pool(8);
  Story* a = Prompt(Others(12, 0));
  Story* b = Prompt(Others(14, 1));
  ASSERT_EQ(Admit(a), Refusal::kNone);
  EXPECT_EQ(Table(a), (Ids{1, 2, 3}));
  ASSERT_EQ(Admit(b), Refusal::kNone);
  EXPECT_EQ(Table(b), (Ids{4, 5, 6, 7}));
  EXPECT_EQ(Decode(a), Refusal::kBlocks);  // the pool is full
  Free(b);                                 // preempted
  EXPECT_EQ(FreeQueue(), (Ids{7, 6, 5, 4}));
  ASSERT_EQ(Extend(a, 13, 12, 1), Refusal::kNone);
  EXPECT_EQ(Table(a), (Ids{1, 2, 3, 7}));
  EXPECT_EQ(Hit(b), 12);
  EXPECT_EQ(Admit(b), Refusal::kGate);  // 3 touched + 1 new > 3 free
  EXPECT_EQ(FreeQueue(), (Ids{6, 5, 4}));
}

// --- hits ----------------------------------------------------------------------------

TEST_F(KvCacheManagerTest, AHitLeavesAtLeastOneTokenToCompute) {
  Pool(20);
  ASSERT_EQ(Admit(Prompt(P(16))), Refusal::kNone);
  EXPECT_EQ(Hit(Prompt(P(16))), 12);  // a whole block is computed again
  EXPECT_EQ(Hit(Prompt(P(17))), 16);
  EXPECT_EQ(Hit(Prompt(P(4))), 0);
  EXPECT_EQ(Hit(Prompt(P(5))), 4);
}

TEST_F(KvCacheManagerTest, EagleOfAHitOfNoneOrOneBlockIsNothing) {
  settings_.num_speculative_tokens = 1;
  Pool(20);
  EXPECT_EQ(Hit(Prompt(P(9))), 0);
  ASSERT_EQ(Admit(Prompt(P(5))), Refusal::kNone);
  EXPECT_EQ(Hit(Prompt(P(9))), 0);
}

TEST_F(KvCacheManagerTest, NgramDraftsNeedNoSlotsAndDropNoHit) {
  settings_.num_speculative_tokens = 3;
  settings_.speculative_method = SpeculativeMethod::kNgram;
  Pool(20);
  Story* a = Prompt(P(17));
  ASSERT_EQ(Admit(a), Refusal::kNone);
  EXPECT_EQ(Table(a).size(), 5u);  // 17 slots
  EXPECT_EQ(Hit(Prompt(P(17))), 16);
}

// A preempted request's outputs are hashed like its prompt (P8 of the recorded
// experiments).
TEST_F(KvCacheManagerTest, ResumedRequestsHitTheirOutputsToo) {
  Pool(20);
  Story* a = Prompt(P(7));
  ASSERT_EQ(Admit(a), Refusal::kNone);
  for (int i = 0; i < 6; ++i) ASSERT_EQ(Decode(a), Refusal::kNone);
  Free(a);
  EXPECT_EQ(Hit(a), 12);  // 13 tokens
}

// A hit is looked up again when something that it depends on has changed.
TEST_F(KvCacheManagerTest, ARefusedHitIsForgottenWhenItsBlocksAreEvicted) {
  Pool(8);
  Story* first = Prompt(P(8));
  ASSERT_EQ(Admit(first), Refusal::kNone);
  Free(first);  // queue 3 4 5 6 7 2 1
  Story* wide = Prompt(P(8) + Others(24, 0));
  EXPECT_EQ(Hit(wide), 8);
  EXPECT_EQ(Admit(wide), Refusal::kGate);  // 8 > 7
  EXPECT_EQ(Hit(wide), 8);
  ASSERT_EQ(Admit(Prompt(Others(24, 1))), Refusal::kNone);  // evicts block 2
  EXPECT_EQ(Hit(wide), 4);
}

// A chain that counts how often its keys are asked for.
class CountingChain final : public KeyChain {
 public:
  explicit CountingChain(KeyChain* keys) : keys_(keys) {}
  std::span<const uint64_t> Prefix(int64_t num_blocks) override {
    ++calls;
    return keys_->Prefix(num_blocks);
  }
  int calls = 0;

 private:
  KeyChain* const keys_;
};

TEST_F(KvCacheManagerTest, ARefusedLookUpIsNotRepeatedWhileNothingChanged) {
  for (const bool remembers : {true, false}) {
    settings_.remember_refusal = remembers;
    Pool(4);
    ASSERT_EQ(Admit(Prompt(Others(8, 0))), Refusal::kNone);
    Story* wide = Prompt(P(30));
    CountingChain counting(wide->keys.get());
    wide->blocks.keys = &counting;
    EXPECT_EQ(Admit(wide), Refusal::kGate);
    const int calls = counting.calls;
    EXPECT_EQ(Admit(wide), Refusal::kGate);
    EXPECT_EQ(counting.calls == calls, remembers);
  }
}

// --- admission ------------------------------------------------------------------------

// Hit blocks that nobody holds leave the queue too: required = new + idle hits
// (P11 of the recorded experiments).
TEST_F(KvCacheManagerTest, IdleHitsCountAsNeededBlocksAndHeldOnesDoNot) {
  Pool(5);
  Story* a = Prompt(P(9));
  ASSERT_EQ(Admit(a), Refusal::kNone);
  Story* twin = Prompt(P(9));
  EXPECT_EQ(Admit(twin), Refusal::kNone);  // one new of one free
  Free(twin);
  Free(a);  // four free, two of them keyed
  ASSERT_EQ(Admit(Prompt(Others(8, 0))), Refusal::kNone);  // takes the unkeyed
  EXPECT_EQ(Hit(twin), 8);
  EXPECT_EQ(Admit(twin), Refusal::kGate);  // 2 touched + 1 new > 2 free
}

TEST_F(KvCacheManagerTest, WithoutReserveOnlyTheChunkMustFit) {
  settings_.reserve_full_sequence = false;
  Pool(4);
  Story* a = Prompt(Others(100, 0));
  EXPECT_EQ(Admit(a, 13), Refusal::kBlocks);  // 4 > 3
  EXPECT_EQ(Admit(a, 12), Refusal::kNone);
}

// 3 free less a watermark of 1 leaves 2.
TEST_F(KvCacheManagerTest, TheWatermarkStaysFreeAtAdmission) {
  Pool(4);
  EXPECT_EQ(Admit(Prompt(Others(9, 0)), 1000, 1), Refusal::kGate);
  EXPECT_EQ(Admit(Prompt(Others(8, 1)), 1000, 1), Refusal::kNone);
}

TEST_F(KvCacheManagerTest, ARefusedAdmissionTakesNothing) {
  Pool(6);
  Story* a = Prompt(P(8));
  ASSERT_EQ(Admit(a), Refusal::kNone);
  Free(a);
  const Ids before = FreeQueue();
  Story* b = Prompt(P(30));
  EXPECT_EQ(Admit(b), Refusal::kGate);
  EXPECT_EQ(FreeQueue(), before);
  EXPECT_EQ(Table(b), Ids{});
}

// Lookahead slots end where the model's length ends.
TEST_F(KvCacheManagerTest, LookaheadNeverPassesTheModelsLength) {
  settings_.num_speculative_tokens = 4;
  Pool(20);
  settings_.max_model_len = 12;
  cache_.emplace(settings_);
  Story* a = Prompt(P(11));
  ASSERT_EQ(Admit(a), Refusal::kNone);
  EXPECT_EQ(Table(a).size(), 3u);  // 12 slots, not 15
}

// --- growing --------------------------------------------------------------------------

// Rejected drafts leave blocks behind; they are used before new ones are taken.
TEST_F(KvCacheManagerTest, RejectedDraftsKeepTheirBlocks) {
  settings_.num_speculative_tokens = 4;
  Pool(10);
  Story* a = Prompt(P(4));
  ASSERT_EQ(Admit(a), Refusal::kNone);  // 8 slots
  EXPECT_EQ(Table(a), (Ids{1, 2}));
  // One output and four drafts: 4 + 5 + 4 = 13 slots.
  ASSERT_EQ(Extend(a, 5, 4, 5), Refusal::kNone);
  EXPECT_EQ(Table(a), (Ids{1, 2, 3, 4}));
  // All rejected: 5 + 1 + 4 = 10 slots; the fourth block stays.
  ASSERT_EQ(Extend(a, 6, 5, 1), Refusal::kNone);
  EXPECT_EQ(Table(a), (Ids{1, 2, 3, 4}));
  // Draft tokens were never hashed.
  EXPECT_EQ(pool().num_keyed_blocks(), 1);
}

// Asynchronous scheduling learns its tokens late: keys follow the tokens.
TEST_F(KvCacheManagerTest, BlocksAreKeyedWhenTheirTokensBecomeKnown) {
  Pool(10);
  Story* a = Prompt(P(7));
  ASSERT_EQ(Admit(a), Refusal::kNone);
  // The eighth token is scheduled before it is known.
  ASSERT_EQ(Extend(a, 7, 7, 1), Refusal::kNone);
  EXPECT_EQ(pool().num_keyed_blocks(), 1);
  cache_->CacheBlocks(&a->blocks, 8);
  EXPECT_EQ(pool().num_keyed_blocks(), 2);
  cache_->CacheBlocks(&a->blocks, 8);  // again: nothing is keyed twice
  EXPECT_EQ(pool().num_keyed_blocks(), 2);
}

TEST_F(KvCacheManagerTest, CommonPrefixIsWhatEveryHolderShares) {
  Pool(20);
  Story* a = Prompt(P(12));
  Story* b = Prompt(P(9));
  ASSERT_EQ(Admit(a), Refusal::kNone);
  EXPECT_EQ(cache_->CommonPrefixBlocks(a->blocks, 1), std::vector<int64_t>{3});
  ASSERT_EQ(Admit(b), Refusal::kNone);
  EXPECT_EQ(cache_->CommonPrefixBlocks(a->blocks, 2), std::vector<int64_t>{2});
}

// --- the ledger -----------------------------------------------------------------------

// Rows of one byte; blocks of 4 rows, 1 byte of page padding and 2 of slot
// padding: 7 bytes each. A pool of 75 bytes holds 10 blocks and leaves 5.
TEST_F(KvCacheManagerTest, EveryByteIsInOneAccount) {
  settings_.pool_bytes = 75;
  settings_.geometry = {.row_bytes = 1, .page_padding = 1, .slot_padding = 2};
  Pool(10);
  Story* a = Prompt(P(10));
  ASSERT_EQ(Admit(a), Refusal::kNone);
  LedgerSnapshot ledger = cache_->Ledger();
  EXPECT_EQ(ledger[Account::kRemainder], 5);
  EXPECT_EQ(ledger[Account::kNull], 7);
  EXPECT_EQ(ledger[Account::kFree], 6 * 7);
  EXPECT_EQ(ledger[Account::kSlotPadding], 3 * 2);
  EXPECT_EQ(ledger[Account::kPagePadding], 3 * 1);
  EXPECT_EQ(ledger[Account::kInFlight], 10);
  EXPECT_EQ(ledger[Account::kTailSlack], 2);
  cache_->CompleteRows(&a->blocks, 10);
  ledger = cache_->Ledger();
  EXPECT_EQ(ledger[Account::kInFlight], 0);
  EXPECT_EQ(ledger[Account::kLive], 10);

  Story* twin = Prompt(P(8));  // shares block 1, duplicates block 2
  ASSERT_EQ(Admit(twin), Refusal::kNone);
  cache_->CompleteRows(&twin->blocks, 4);
  ledger = cache_->Ledger();
  EXPECT_EQ(ledger[Account::kLive], 14);
  EXPECT_EQ(ledger[OfWhich::kSharedRows], 4);
  EXPECT_EQ(ledger[OfWhich::kSharingSaved], 4);
  EXPECT_EQ(ledger[OfWhich::kDuplicates], 7);
  Free(twin);
  Free(a);
  ledger = cache_->Ledger();
  EXPECT_EQ(ledger[Account::kIdle], 3 * 7);  // blocks 1, 2 and the twin's
  EXPECT_EQ(ledger[Account::kFree], 6 * 7);
  EXPECT_EQ(ledger[OfWhich::kIdlePadding], 3 * 3);
  EXPECT_EQ(ledger[Account::kLive], 0);
}

// A request that leaves with its last batch in flight: what others may hit was
// written before they can read it.
TEST_F(KvCacheManagerTest,
       RowsOfKeyedBlocksCountAsComputedWhenTheirOwnerLeaves) {
  Pool(10);
  Story* a = Prompt(P(10));
  ASSERT_EQ(Admit(a), Refusal::kNone);
  Free(a);
  Story* b = Prompt(P(9));
  ASSERT_EQ(Admit(b), Refusal::kNone);  // hits 8
  EXPECT_EQ(cache_->Ledger()[Account::kLive], 8);
  EXPECT_EQ(cache_->Ledger()[Account::kInFlight], 1);
}

}  // namespace
}  // namespace kvsim::vllm
