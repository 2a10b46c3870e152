#include "kernels/block_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"

namespace kvsim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kBlocks = 4;

// Whether every order of copying the pairs gives the same: no target among other
// pairs' sources and targets, nor its own source.
bool AnyOrderIsTheSame(std::span<const BlockPair> pairs) {
  for (size_t i = 0; i < pairs.size(); ++i) {
    for (size_t k = 0; k < pairs.size(); ++k) {
      if (pairs[i].to == pairs[k].from) return false;
      if (i != k && pairs[i].to == pairs[k].to) return false;
    }
  }
  return true;
}

// All lists of up to three pairs over four blocks; 16^3 of the longest.
TEST(BlockPairsTest, RefusesExactlyTheOverlappingLists) {
  for (size_t length = 0; length <= 3; ++length) {
    for (uint32_t code = 0; code < 1u << (4 * length); ++code) {
      std::vector<BlockPair> pairs;
      for (size_t i = 0; i < length; ++i) {
        pairs.push_back({code >> (4 * i) & 3, code >> (4 * i + 2) & 3});
      }
      const PairsCheck check = CheckCopyPairs(pairs, kBlocks);
      ASSERT_EQ(check.ok(), AnyOrderIsTheSame(pairs)) << code;
      if (check.ok()) continue;
      const auto index = static_cast<size_t>(check.index);
      const std::span<const BlockPair> all(pairs);
      ASSERT_TRUE(AnyOrderIsTheSame(all.first(index))) << code;
      ASSERT_FALSE(AnyOrderIsTheSame(all.first(index + 1))) << code;
    }
  }
}

std::string Refusal(std::vector<BlockPair> pairs) {
  return CheckCopyPairs(pairs, kBlocks).status.message;
}

TEST(BlockPairsTest, SaysWhatIsWrong) {
  EXPECT_EQ(Refusal({{4, 0}}), "a source block is outside its pool");
  EXPECT_EQ(Refusal({{0, 4}}), "a target block is outside its pool");
  EXPECT_EQ(Refusal({{0, 2}, {1, 2}}), "a block is the target of two pairs");
  EXPECT_EQ(Refusal({{0, 1}, {1, 2}}), "a block is both a source and a target");
  EXPECT_EQ(Refusal({{2, 2}}), "a block is both a source and a target");
  EXPECT_EQ(Refusal({{0, 1}, {0, 2}, {0, 3}}), "");
}

TEST(BlockPairsTest, SwapsNumberTheirPoolsApart) {
  const std::vector<BlockPair> same = {{0, 1}, {1, 0}, {2, 2}};
  EXPECT_TRUE(CheckSwapPairs(same, 3, 3).ok());
  EXPECT_EQ(CheckSwapPairs(same, 2, 3).index, 2);
  EXPECT_EQ(CheckSwapPairs(same, 3, 2).index, 2);
  EXPECT_EQ(CheckSwapPairs(std::vector<BlockPair>{{0, 1}, {1, 1}}, 3, 3).index,
            1);
}

TEST(BlockPairsTest, MergesNeighboursThatMoveTogether) {
  EXPECT_THAT(MergeRuns({}), IsEmpty());
  EXPECT_THAT(MergeRuns(std::vector<BlockPair>{
                  {1, 11}, {2, 12}, {3, 13}, {5, 14}, {6, 16}, {6, 17}}),
              ElementsAre(BlockRun{1, 11, 3}, BlockRun{5, 14, 1},
                          BlockRun{6, 16, 1}, BlockRun{6, 17, 1}));
}

TEST(BlockPairsTest, RunsAreThePairsAndAsFewAsCanBe) {
  RandomStream random(1, "block pairs");
  for (int round = 0; round < 1000; ++round) {
    std::vector<BlockPair> pairs;
    for (uint64_t i = random.Below(12); i-- > 0;) {
      pairs.push_back({static_cast<BlockId>(random.Below(3)),
                       static_cast<BlockId>(random.Below(3))});
    }
    std::vector<BlockPair> told;
    size_t breaks = pairs.empty() ? 0 : 1;
    for (size_t i = 1; i < pairs.size(); ++i) {
      const BlockPair next = {pairs[i - 1].from + 1, pairs[i - 1].to + 1};
      if (pairs[i] != next) ++breaks;
    }
    const std::vector<BlockRun> runs = MergeRuns(pairs);
    for (const BlockRun& run : runs) {
      for (int64_t i = 0; i < run.count; ++i) {
        told.push_back({static_cast<BlockId>(run.from + i),
                        static_cast<BlockId>(run.to + i)});
      }
    }
    ASSERT_EQ(told, pairs) << "round " << round;
    ASSERT_EQ(runs.size(), breaks) << "round " << round;
  }
}

}  // namespace
}  // namespace kvsim
