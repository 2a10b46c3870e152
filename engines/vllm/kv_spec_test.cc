#include "engines/vllm/kv_spec.h"

#include <gtest/gtest.h>

namespace kvsim::vllm {
namespace {

// Llama-2-7B, bf16: 32 heads x (128 + 128) x 2 B = 16,384 B a token;
// 16 tokens = 262,144 B.
TEST(KvSpec, PageIsRowsTimesBytes) {
  const KvSpec spec = {.block_tokens = Tokens(16), .row_bytes = Bytes(16384)};
  EXPECT_EQ(Page(spec), Bytes(262144));
  EXPECT_EQ(UsedPage(spec), Page(spec));
}

// DeepSeek-V4: 256 tokens at 4 a row are 64 rows of 584 B = 37,376 B, in pages
// that step by 576 B: 65 x 576 = 37,440.
TEST(KvSpec, AlignmentRoundsThePageUp) {
  const KvSpec spec = {.kind = SpecKind::kMla,
                       .block_tokens = Tokens(256),
                       .row_bytes = Bytes(584),
                       .tokens_per_row = 4,
                       .alignment = Bytes(576)};
  EXPECT_EQ(UsedPage(spec), Bytes(37376));
  EXPECT_EQ(Page(spec), Bytes(37440));
}

TEST(KvSpec, StatePageIgnoresTheBlock) {
  const KvSpec spec = {.kind = SpecKind::kState,
                       .block_tokens = Tokens(1920),
                       .state_bytes = Bytes(2170880),
                       .padded_page = Bytes(2211840)};
  EXPECT_EQ(UsedPage(spec), Bytes(2170880));
  EXPECT_EQ(Page(spec), Bytes(2211840));
}

TEST(KvSpec, StatesPerRequestDependOnTheMode) {
  const KvSpec spec = {.kind = SpecKind::kState, .block_tokens = Tokens(512)};
  DemandRules rules = {.state_mode = StateMode::kNone};
  EXPECT_EQ(DemandOf(spec, rules).constant_worst, Blocks(1));
  rules.state_mode = StateMode::kAlign;
  EXPECT_EQ(DemandOf(spec, rules).constant_worst, Blocks(2));
  EXPECT_EQ(DemandOf(spec, rules).constant_steady, Blocks(1));
  rules.speculative_tokens = 3;
  EXPECT_EQ(DemandOf(spec, rules).constant_worst, Blocks(5));
  rules.state_mode = StateMode::kAll;
  // ceil(1,025 / 512) = 3 blocks, and 3 speculative ones.
  EXPECT_EQ(WorstCaseBlocks(DemandOf(spec, rules), Tokens(1025), Tokens(0)),
            Blocks(6));
}

TEST(KvSpec, StatesAreNeverSharded) {
  const KvSpec state = {.kind = SpecKind::kState};
  const KvSpec latent = {.kind = SpecKind::kMla};
  const DemandRules rules = {.decode_context = 8};
  EXPECT_EQ(DemandOf(state, rules).sharded_over, 1);
  EXPECT_EQ(DemandOf(latent, rules).sharded_over, 8);
}

TEST(KvSpec, WindowReachesBackOneLessThanItsSize) {
  const KvSpec spec = {.kind = SpecKind::kSlidingWindow,
                       .window = Tokens(4096)};
  EXPECT_EQ(DemandOf(spec, {}).reach, Tokens(4095));
}

}  // namespace
}  // namespace kvsim::vllm
