#include "engines/vllm/block_worth.h"

#include <gtest/gtest.h>

#include <vector>

namespace kvsim::vllm {
namespace {

Settings Hybrid(const char* policy) {
  Settings settings;
  settings.num_gpu_blocks = 100;
  settings.groups = {{.block_tokens = 16},
                     {.kind = GroupKind::kRecurrent, .block_tokens = 16}};
  settings.checkpoints = *ParseCheckpointPolicy(policy);
  return *settings.Normalized();
}

// Segment (0, 64]: 64 tokens in 4 blocks and a state: 64000 / 5.
TEST(BlockWorth, ASegmentsTokensOverItsBlocks) {
  BlockWorth worth(Hybrid("every:64+value"));
  EXPECT_EQ(worth.At(16, 200, 0), 12'800);
  EXPECT_EQ(worth.At(64, 200, 0), 12'800);
  EXPECT_EQ(worth.At(80, 200, 0), 12'800);
  worth.Advance(7);
  EXPECT_EQ(worth.At(16, 200, 0), 19'800);
  EXPECT_EQ(worth.now(), 7'000);
}

// At 1,000 tokens attention costs as much as the rest: 64 + 64²/2000 = 66 (rounded
// down) of the first 64 tokens, 136 of 128.
TEST(BlockWorth, AttentionCounts) {
  Settings settings = Hybrid("every:64+value");
  settings.attention_balance = 1000;
  BlockWorth worth(settings);
  EXPECT_EQ(worth.At(64, 200, 0), 66'000 / 5);
  EXPECT_EQ(worth.At(128, 200, 0), (136'000 - 66'000) / 5);
}

// Prompt of 200 tokens, junction at 32: segments (0, 32] and (32, 192].
// 32000 / 3 = 10666 and 160000 / 11 = 14545; what is shallower is worth as much.
TEST(BlockWorth, WhatIsDeeperLiftsWhatIsNot) {
  BlockWorth worth(Hybrid("value"));
  EXPECT_EQ(worth.At(16, 200, 32), 10'666);
  EXPECT_EQ(worth.At(48, 200, 32), 14'545);
  EXPECT_EQ(worth.At(208, 200, 32), 0);  // no hit can end behind it
  const auto segments = worth.Segments(200, 200, 32);
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(segments[0].end, 32);
  EXPECT_EQ(segments[0].score, 14'545);
  EXPECT_EQ(segments[1].end, 192);
  EXPECT_EQ(segments[1].score, 14'545);
  EXPECT_EQ(worth.Segments(191, 200, 32).size(), 1u);  // not computed that far
}

// Full attention alone can be hit after every block.
TEST(BlockWorth, WithoutStatesEveryBlockIsASegment) {
  Settings settings = Hybrid("value");
  settings.groups.pop_back();
  BlockWorth worth(*settings.Normalized());
  EXPECT_EQ(worth.At(16, 200, 0), 16'000);
  EXPECT_EQ(worth.Segments(48, 200, 0).size(), 3u);
}

}  // namespace
}  // namespace kvsim::vllm
