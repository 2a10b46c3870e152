#include "engines/vllm/retention.h"

#include <gtest/gtest.h>

#include <vector>

namespace kvsim::vllm {
namespace {

using Indices = std::vector<int64_t>;

Indices Kept(const Retention& retention, int64_t blocks, int64_t num_prompt,
             int64_t junction = 0) {
  Indices kept;
  for (int64_t i = retention.NextKept(0, num_prompt, junction); i < blocks;
       i = retention.NextKept(i + 1, num_prompt, junction)) {
    kept.push_back(i);
  }
  return kept;
}

// A window of 8 tokens in blocks of 4: ceil(7 / 4) = 2 blocks make a tail.
Retention Window(std::optional<int64_t> interval) {
  return {.boundaries = Boundaries::Of(PolicyOfInterval(interval), 4),
          .block = 4,
          .tail = 2};
}

TEST(Retention, DenseKeepsEveryBlockWhenTailsTouch) {
  EXPECT_EQ(Kept(Window({}), 5, 20), (Indices{0, 1, 2, 3, 4}));
}

TEST(Retention, DenseSkipsWhatNoBoundaryReaches) {
  // Boundaries every 16 tokens: blocks 2, 3 of each four.
  Retention wide = Window({});
  wide.boundaries = Boundaries::Of(PolicyOfInterval({}), 16);
  EXPECT_EQ(Kept(wide, 8, 32), (Indices{2, 3, 6, 7}));
}

TEST(Retention, ZeroKeepsThePromptsLastBoundaryAndTheJunction) {
  // T3: floor(29 / 4)·4 = 28 → blocks 5 and 6.
  EXPECT_EQ(Kept(Window(0), 100, 30), (Indices{5, 6}));
  // T4: junction 20 → blocks 3, 4; prompt of 28: 24 → blocks 4, 5.
  EXPECT_EQ(Kept(Window(0), 100, 28, 20), (Indices{3, 4, 5}));
  EXPECT_TRUE(Kept(Window(0), 100, 4).empty());
}

TEST(Retention, AnIntervalAddsItsMultiples) {
  EXPECT_EQ(Kept(Window(32), 17, 30), (Indices{5, 6, 7, 14, 15}));
}

TEST(Retention, AMarginKeepsTheBlockBehindTheBoundary) {
  Retention draft = Window(0);
  draft.tail = 3;
  draft.margin = 1;
  EXPECT_EQ(Kept(draft, 100, 30), (Indices{5, 6, 7}));
  draft.boundaries = Boundaries::Of(PolicyOfInterval({}), 4);
  EXPECT_EQ(Kept(draft, 4, 30), (Indices{0, 1, 2, 3}));
}

// A window of one token reads no block before its end.
TEST(Retention, NoTailKeepsNothing) {
  Retention none = Window(0);
  none.tail = 0;
  EXPECT_TRUE(Kept(none, 100, 30, 20).empty());
}

}  // namespace
}  // namespace kvsim::vllm
