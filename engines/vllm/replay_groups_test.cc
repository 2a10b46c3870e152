#include "engines/vllm/replay_groups.h"

#include <gtest/gtest.h>

namespace kvsim::vllm {
namespace {

// Blocks of 1,000 bytes; the figures are made up, the rules are not.
kvsim::CacheGroup Planned(const char* kind, BlockDemand demand, int64_t used,
                          int64_t slot_padding) {
  kvsim::CacheGroup group;
  group.kind = kind;
  group.demand = demand;
  group.used = Bytes(used);
  group.slot_padding = Bytes(slot_padding);
  return group;
}

PoolPlan Plan(const std::vector<kvsim::CacheGroup>& groups) {
  PoolPlan plan;
  plan.groups = groups;
  plan.bytes_per_block = Bytes(1000);
  plan.max_model_len = Tokens(4096);
  return plan;
}

CacheGroup Only(const kvsim::CacheGroup& planned) {
  const auto groups = ReplayGroups(Plan({planned}));
  EXPECT_TRUE(groups.ok()) << groups.status();
  EXPECT_EQ(groups->front().BlockBytes(), 1000);
  return groups->front();
}

using Kind = BlockDemand::Kind;

TEST(ReplayGroups, FullAttentionSpansItsContextRanks) {
  const CacheGroup group =
      Only(Planned("full_attention",
                   {.block_tokens = Tokens(16), .sharded_over = 2}, 960, 0));
  EXPECT_EQ(group.kind, GroupKind::kFull);
  EXPECT_EQ(group.block_tokens, 32);
  EXPECT_EQ(group.geometry.row_bytes, 30);
  EXPECT_EQ(group.geometry.page_padding, 40);
}

// 900 bytes in 256 tokens: 3 bytes a token, 132 left over.
TEST(ReplayGroups, WhatRowsLeaveOverIsPagePadding) {
  const CacheGroup group =
      Only(Planned("mla_attention", {.block_tokens = Tokens(256)}, 900, 60));
  EXPECT_EQ(group.geometry.row_bytes, 3);
  EXPECT_EQ(group.geometry.page_padding, 172);
  EXPECT_EQ(group.geometry.slot_padding, 60);
}

TEST(ReplayGroups, WindowsAndChunks) {
  const CacheGroup window = Only(Planned(
      "sliding_window",
      {.kind = Kind::kWindow, .block_tokens = Tokens(16), .reach = Tokens(127)},
      1000, 0));
  EXPECT_EQ(window.kind, GroupKind::kSlidingWindow);
  EXPECT_EQ(window.window, 128);
  const CacheGroup chunk = Only(Planned(
      "chunked_local_attention",
      {.kind = Kind::kChunk, .block_tokens = Tokens(16), .reach = Tokens(8192)},
      1000, 0));
  EXPECT_EQ(chunk.kind, GroupKind::kChunkedLocal);
  EXPECT_EQ(chunk.chunk, 8192);
}

// One state in steady decode; align mode keeps another until it is copied.
TEST(ReplayGroups, StatesByTheirMode) {
  BlockDemand demand = {.kind = Kind::kPerSequence,
                        .block_tokens = Tokens(544),
                        .constant_worst = Blocks(2),
                        .constant_steady = Blocks(1)};
  const CacheGroup align = Only(Planned("mamba", demand, 800, 100));
  EXPECT_EQ(align.kind, GroupKind::kRecurrent);
  EXPECT_EQ(align.state_mode, StateMode::kAlign);
  EXPECT_EQ(align.block_tokens, 544);
  EXPECT_EQ(align.geometry.state_bytes, 800);
  EXPECT_EQ(align.geometry.page_padding, 100);
  demand.constant_worst = Blocks(1);
  const CacheGroup none = Only(Planned("mamba", demand, 800, 100));
  EXPECT_EQ(none.state_mode, StateMode::kNone);
  EXPECT_EQ(none.block_tokens, 4096);  // one block for the longest request
  demand.kind = Kind::kAllHistory;
  EXPECT_EQ(Only(Planned("mamba", demand, 800, 100)).state_mode,
            StateMode::kAll);
}

TEST(ReplayGroups, CrossAttentionHoldsTheEncodersTokens) {
  const CacheGroup group = Only(Planned("cross_attention",
                                        {.kind = Kind::kPerSequence,
                                         .block_tokens = Tokens(16),
                                         .reach = Tokens(1500),
                                         .constant_worst = Blocks(94),
                                         .constant_steady = Blocks(94)},
                                        1000, 0));
  EXPECT_EQ(group.kind, GroupKind::kCross);
  EXPECT_EQ(group.encoder_tokens, 1500);  // Whisper's
}

TEST(ReplayGroups, ATableWithoutRowsIsOneBlockARequest) {
  const CacheGroup group = Only(Planned("index_tail",
                                        {.kind = Kind::kPerSequence,
                                         .block_tokens = Tokens(16),
                                         .constant_worst = Blocks(1),
                                         .constant_steady = Blocks(1)},
                                        0, 1000));
  EXPECT_EQ(group.kind, GroupKind::kCross);
  EXPECT_EQ(group.encoder_tokens, 1);
  EXPECT_EQ(group.geometry.row_bytes, 0);
}

TEST(ReplayGroups, OtherKindsAreNamed) {
  const auto groups = ReplayGroups(
      Plan({Planned("pooled_tail", {.kind = Kind::kPerSequence}, 10, 0)}));
  EXPECT_EQ(groups.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(groups.status().message().find("pooled_tail"), std::string::npos);
}

}  // namespace
}  // namespace kvsim::vllm
