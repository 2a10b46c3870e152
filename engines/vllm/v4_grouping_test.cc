// DeepSeek V4, the layers and figures of vLLM main of 2026-08-17.
#include "engines/vllm/v4_grouping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvsim::vllm {
namespace {

using ::testing::ElementsAre;

KvSpec Mla(int64_t block, int64_t row, int64_t tokens_per_row) {
  return {.kind = SpecKind::kMla,
          .block_tokens = Tokens(block),
          .row_bytes = Bytes(row),
          .tokens_per_row = tokens_per_row,
          .alignment = Bytes(576)};
}

KvSpec Window(int64_t block, int64_t row, int64_t window) {
  return {.kind = SpecKind::kSlidingWindowMla,
          .block_tokens = Tokens(block),
          .row_bytes = Bytes(row),
          .window = Tokens(window),
          .alignment = Bytes(576)};
}

// `c4` and `c128` layers alternate after `plain` layers of window only.
std::vector<LayerKvSpec> V4(int plain, int c4, int c128) {
  std::vector<LayerKvSpec> caches;
  for (int layer = 0; layer < plain + c4 + c128; ++layer) {
    const int i = layer - plain;
    caches.push_back({layer, false, Window(64, 584, 128)});
    const bool is_c4 = i >= 0 && (i % 2 == 0 ? i / 2 < c4 : i / 2 >= c128);
    if (i < 0) continue;
    if (is_c4) {
      caches.push_back({layer, false, Mla(256, 584, 4)});
      caches.push_back({layer, true, Mla(256, 132, 4)});
      caches.push_back({layer, false, Window(4, 2048 * 4, 8)});
      caches.push_back({layer, false, Window(4, 512 * 4, 8)});
    } else {
      caches.push_back({layer, false, Mla(256, 584, 128)});
      caches.push_back({layer, false, Window(8, 1024 * 4, 128)});
    }
  }
  return caches;
}

std::vector<int64_t> GroupSums(const Grouping& grouping) {
  std::vector<int64_t> sums;
  for (const LayerGroup& group : grouping.groups) {
    Bytes sum(0);
    for (size_t member : group.members)
      sum += Page(grouping.caches[member].spec);
    sums.push_back(sum.value());
  }
  return sums;
}

// Tuples 21, 43, 21, 20. Depth 22 wastes 1 + 1 + 1 + 2 = 5 (21 would waste 21).
TEST(LeastWastefulDepth, OfV4) {
  EXPECT_EQ(LeastWastefulDepth({21, 43, 21, 20}, 21), 22);
  EXPECT_EQ(LeastWastefulDepth({31, 61, 30, 31}, 31), 31);
  // The next-token layer is one more window: 44 = 22 + 22, 62 = 31 + 31.
  EXPECT_EQ(LeastWastefulDepth({21, 44, 21, 20}, 21), 22);
  EXPECT_EQ(LeastWastefulDepth({31, 62, 30, 31}, 31), 31);
}

TEST(LeastWastefulDepth, TiesGoToTheLarger) {
  // 2 would waste 1 on the 3, 3 would waste 1 on the 2.
  EXPECT_EQ(LeastWastefulDepth({2, 3}, 2), 3);
  EXPECT_EQ(LeastWastefulDepth({4, 8}, 4), 4);
  EXPECT_EQ(LeastWastefulDepth({1, 1}, 1), 1);
}

TEST(PackGroups, FlashHasFiveSlabs) {
  const Grouping grouping = PackGroups(V4(2, 21, 20));
  EXPECT_EQ(grouping.packed_depth, 22);
  // History, two window groups, C4 states, C128 states.
  EXPECT_THAT(GroupSums(grouping),
              ElementsAre(1002240, 823680, 786240, 870912, 656640));
  EXPECT_EQ(BytesPerBlock(grouping, 0, 43), Bytes(1002240));
  // The start-up check charges 22 x (37,440 + 8,640 + 1,728).
  EXPECT_EQ(GateBytesPerBlock(grouping), Bytes(1051776));
}

TEST(PackGroups, Pro) {
  const Grouping grouping = PackGroups(V4(0, 30, 31));
  EXPECT_EQ(grouping.packed_depth, 31);
  EXPECT_THAT(GroupSums(grouping),
              ElementsAre(1435968, 1160640, 1123200, 1244160, 1017792));
  EXPECT_EQ(GateBytesPerBlock(grouping), Bytes(31 * 47808));
}

TEST(NeedsPackedGroups, OnlyForSlidingLatentsWithDifferingPages) {
  EXPECT_TRUE(NeedsPackedGroups(V4(2, 1, 1)));
  EXPECT_FALSE(NeedsPackedGroups(
      {{0, false, Window(64, 584, 128)}, {1, false, Window(64, 584, 128)}}));
  EXPECT_FALSE(NeedsPackedGroups(
      {{0, false, Mla(64, 576, 1)}, {0, true, Mla(64, 132, 1)}}));
}

}  // namespace
}  // namespace kvsim::vllm
