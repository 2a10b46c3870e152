#include "tools/block_size_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

namespace kvsim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kPromptTokens = 10'000;

// What decides, and nothing else.
struct Given {
  int64_t asked;
  int64_t resident;
  int64_t hit_tokens;
  Bytes table{0};
  bool is_default = false;
};

BlockSizeComparison Compare(std::initializer_list<Given> sizes) {
  BlockSizeComparison comparison;
  comparison.from_trace = true;
  comparison.lengths = {Tokens(100)};
  for (const Given& given : sizes) {
    ComparedBlockSize size;
    size.surveyed.asked = Tokens(given.asked);
    size.surveyed.is_default = given.is_default;
    size.surveyed.hit_unit = Tokens(given.asked);
    size.surveyed.table = given.table;
    size.surveyed.answer.contexts.resize(1);
    size.surveyed.answer.contexts[0].count.resident = given.resident;
    size.hits.emplace();
    size.hits->hit_tokens = given.hit_tokens;
    size.hits->measured_tokens = kPromptTokens;
    comparison.sizes.push_back(size);
  }
  return comparison;
}

TEST(BlockSizeComparisonTest, RecommendsTheBestOfBoth) {
  EXPECT_EQ(
      Advise(Compare({{16, 10, 900}, {64, 12, 5000}, {256, 9, 100}})).size,
      Tokens(64));
}

// 16 hits 4,000 of 10,000 tokens more, 64 holds 2 requests more.
TEST(BlockSizeComparisonTest, ATradeOffIsASentence) {
  const BlockSizeAdvice advice =
      Advise(Compare({{16, 10, 5000}, {64, 12, 1000}, {256, 9, 900}}));
  EXPECT_FALSE(advice.size.has_value());
  EXPECT_EQ(advice.text,
            "a trade-off: --block-size 16 hits 4,000 tokens (40.00 % of the "
            "prompts) more than --block-size 64, which holds 2 more requests "
            "at once (12 to 10)");
}

// 1 % of the prompts is 100 tokens.
TEST(BlockSizeComparisonTest, SmallDifferencesOfHitsDoNotDecide) {
  EXPECT_EQ(Advise(Compare({{16, 10, 5000}, {64, 12, 4900}})).size, Tokens(64));
  EXPECT_FALSE(
      Advise(Compare({{16, 10, 5000}, {64, 12, 4899}})).size.has_value());
}

TEST(BlockSizeComparisonTest, OfEqualsTheEnginesChoiceThenTheSmallestTable) {
  EXPECT_EQ(Advise(Compare({{16, 10, 50, Bytes(800)},
                            {32, 10, 50, Bytes(400), true},
                            {64, 10, 50, Bytes(200)}}))
                .size,
            Tokens(32));
  const BlockSizeAdvice advice = Advise(Compare({{16, 9, 50, Bytes(800), true},
                                                 {32, 10, 50, Bytes(400)},
                                                 {64, 10, 50, Bytes(200)}}));
  EXPECT_EQ(advice.size, Tokens(64));
  EXPECT_THAT(advice.text, HasSubstr("of the 2 sizes that tie"));
}

TEST(BlockSizeComparisonTest, RefusedSizesWinNothing) {
  BlockSizeComparison comparison = Compare({{8, 99, 9000}, {16, 10, 5000}});
  comparison.sizes[0].surveyed.accepted = false;
  EXPECT_EQ(Advise(comparison).size, Tokens(16));
  EXPECT_EQ(FinestSize(comparison)->surveyed.asked, Tokens(16));
  for (const BestView& view : BestViews(comparison, ByteUnits::kBinary)) {
    EXPECT_THAT(view.sizes, ElementsAre(16)) << view.view;
  }
  comparison.sizes[1].surveyed.accepted = false;
  EXPECT_TRUE(BestViews(comparison, ByteUnits::kBinary).empty());
  EXPECT_FALSE(Advise(comparison).size.has_value());
}

}  // namespace
}  // namespace kvsim
