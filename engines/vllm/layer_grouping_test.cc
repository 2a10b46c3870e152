#include "engines/vllm/layer_grouping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvsim::vllm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

KvSpec Spec(SpecKind kind, int64_t block, int64_t row, int64_t window = 0) {
  return {.kind = kind,
          .block_tokens = Tokens(block),
          .row_bytes = Bytes(row),
          .window = Tokens(window)};
}

KvSpec State(int64_t bytes, int64_t page) {
  return {.kind = SpecKind::kState,
          .state_bytes = Bytes(bytes),
          .padded_page = Bytes(page)};
}

TEST(GroupLayers, NoCacheIsAnError) {
  EXPECT_FALSE(GroupLayers({}, true).ok());
}

TEST(GroupLayers, EqualSpecsAreOneGroup) {
  const KvSpec spec = Spec(SpecKind::kFullAttention, 16, 512);
  const Grouping grouping =
      *GroupLayers({{0, false, spec}, {1, false, spec}}, true);
  EXPECT_EQ(grouping.rule, GroupingRule::kOneGroup);
  EXPECT_THAT(grouping.groups[0].members, ElementsAre(0, 1));
  EXPECT_EQ(BytesPerBlock(grouping, 0, 2), Bytes(2 * 8192));
  EXPECT_EQ(BytesPerBlock(grouping, 1, 2), Bytes(8192));
}

TEST(GroupLayers, DifferingRowsOfFullHistoryAreOfUniformType) {
  const Grouping grouping =
      *GroupLayers({{0, false, Spec(SpecKind::kMla, 64, 656)},
                    {0, true, Spec(SpecKind::kMla, 64, 132)}},
                   true);
  EXPECT_EQ(grouping.rule, GroupingRule::kUniformType);
  // 64 x (656 + 132).
  EXPECT_EQ(BytesPerBlock(grouping, 0, 1), Bytes(50432));
}

// Beside recurrent states the index key is part of its layer's row: both layers
// are one slot of 128 x (1,152 + 132) B, and the state is padded to it.
TEST(GroupLayers, IndexKeysFoldIntoTheirLayerBesideStates) {
  const Grouping grouping =
      *GroupLayers({{0, false, State(1000, 128 * 1152)},
                    {1, false, Spec(SpecKind::kMla, 128, 1152)},
                    {1, true, Spec(SpecKind::kMla, 128, 132)}},
                   true);
  EXPECT_EQ(grouping.rule, GroupingRule::kEqualGroups);
  ASSERT_EQ(grouping.groups.size(), 2u);
  EXPECT_EQ(BytesPerBlock(grouping, 0, 2), Bytes(128 * 1284));
  EXPECT_EQ(Page(grouping.caches[0].spec), Bytes(128 * 1284));
}

// Rows of 768 do not divide a page of 1,024-byte rows: the page is padded.
TEST(GroupLayers, PagesThatDoNotDivideArePadded) {
  const Grouping grouping =
      *GroupLayers({{0, false, Spec(SpecKind::kSlidingWindow, 16, 768, 128)},
                    {1, false, Spec(SpecKind::kFullAttention, 16, 1024)}},
                   true);
  EXPECT_EQ(grouping.caches[0].spec.block_tokens, Tokens(16));
  EXPECT_EQ(Page(grouping.caches[0].spec), Bytes(16384));
  EXPECT_THAT(grouping.notes, ElementsAre(HasSubstr("12288 bytes are padded")));
}

TEST(GroupLayers, LatentsBesideWindowsThatDoNotDivideFallBack) {
  const Grouping grouping =
      *GroupLayers({{0, false, Spec(SpecKind::kSlidingWindow, 16, 768, 128)},
                    {1, false, Spec(SpecKind::kMla, 16, 1152)}},
                   true);
  EXPECT_EQ(grouping.rule, GroupingRule::kUniformType);
  EXPECT_THAT(grouping.notes, ElementsAre(HasSubstr("full history")));
}

// Buckets of 2 and 5: groups of 2, the five cut into 3 with stride.
TEST(GroupLayers, SmallestBucketSetsTheGroupSize) {
  std::vector<LayerKvSpec> caches;
  for (int i = 0; i < 7; ++i) {
    const bool full = i == 3 || i == 6;
    caches.push_back({i, false,
                      full ? Spec(SpecKind::kFullAttention, 16, 512)
                           : Spec(SpecKind::kSlidingWindow, 16, 512, 64)});
  }
  const Grouping grouping = *GroupLayers(caches, true);
  ASSERT_EQ(grouping.groups.size(), 4u);
  EXPECT_THAT(grouping.groups[0].members, ElementsAre(0, 4));
  EXPECT_THAT(grouping.groups[1].members, ElementsAre(1, 5));
  EXPECT_THAT(grouping.groups[2].members, ElementsAre(2));
  EXPECT_THAT(grouping.groups[3].members, ElementsAre(3, 6));
}

// 5 and 6 layers are almost as many, 23 are not: groups of 6. Two kinds lack a
// layer, 1 of 5 and 1 of 23.
TEST(GroupLayers, BucketsNearTheSmallestAreOneGroupEach) {
  std::vector<LayerKvSpec> caches;
  for (int i = 0; i < 34; ++i) {
    KvSpec spec = State(1000, 16 * 512);
    if (i >= 23) spec = Spec(SpecKind::kFullAttention, 16, 512);
    if (i >= 29) spec = Spec(SpecKind::kSlidingWindow, 16, 512, 64);
    caches.push_back({i, false, spec});
  }
  const Grouping grouping = *GroupLayers(caches, true);
  EXPECT_EQ(grouping.groups.size(), 4u + 1u + 1u);
  EXPECT_EQ(BytesPerBlock(grouping, 0, 34), Bytes(6 * 16 * 512));
  ASSERT_EQ(grouping.layer_padding.size(), 2u);
  EXPECT_EQ(grouping.layer_padding[0].layers, 1);
  EXPECT_DOUBLE_EQ(grouping.layer_padding[0].waste_percent, 100.0 / 23);
  EXPECT_DOUBLE_EQ(grouping.layer_padding[1].waste_percent, 100.0 / 5);
}

// One key of 132 B for 4 tokens: 128 x 1,024 + 32 x 132.
TEST(GroupLayers, PooledIndexKeysFoldIntoTheirLayer) {
  KvSpec pooled = Spec(SpecKind::kMla, 128, 132);
  pooled.tokens_per_row = 4;
  const Grouping grouping =
      *GroupLayers({{0, false, State(1000, 128 * 1024)},
                    {1, false, Spec(SpecKind::kMla, 128, 1024)},
                    {1, true, pooled}},
                   true);
  EXPECT_EQ(BytesPerBlock(grouping, 0, 2), Bytes(128 * 1024 + 32 * 132));
}

TEST(GroupLayers, WithoutTheHybridManagerWindowsAreFullHistory) {
  const Grouping grouping =
      *GroupLayers({{0, false, Spec(SpecKind::kSlidingWindow, 16, 512, 64)},
                    {1, false, Spec(SpecKind::kFullAttention, 16, 512)}},
                   false);
  EXPECT_EQ(grouping.rule, GroupingRule::kOneGroup);
}

}  // namespace
}  // namespace kvsim::vllm
