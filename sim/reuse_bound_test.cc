#include "sim/reuse_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/random.h"
#include "engines/token_chain.h"

namespace kvsim {
namespace {

using Row = std::vector<int64_t>;

// Blocks of 4 tokens: two layers' worth of full attention and one state.
ReuseShape Hybrid() {
  return {.key_tokens = 4,
          .unit = 4,
          .full_blocks = {4},
          .tails = {{.block_tokens = 4, .blocks = 1}}};
}

ReuseBound Of(const ReuseShape& shape, const std::vector<Row>& rows) {
  ReuseBound bound(shape);
  for (const Row& row : rows) {
    TokenChain keys(row, shape.key_tokens);
    bound.Add(&keys, static_cast<int64_t>(row.size()),
              static_cast<int64_t>(row.size()));
  }
  return bound;
}

Row Counting(int64_t from, int64_t n) {
  Row row;
  for (int64_t i = 0; i < n; ++i) row.push_back(from + i);
  return row;
}

// A, B, A: 9 tokens each, of which 8 can be hit. The third needs 2 blocks and a state
// for two requests: 6 blocks · requests of num_blocks · 2.
TEST(ReuseBound, OnePromptTwice) {
  const ReuseBound bound =
      Of(Hybrid(), {Counting(0, 9), Counting(100, 9), Counting(0, 9)});
  EXPECT_EQ(bound.prompt_tokens(), 27);
  EXPECT_EQ(bound.UnlimitedTokens(), 8);
  EXPECT_EQ(bound.Tokens(3), 8);
  EXPECT_EQ(bound.Tokens(2), 6);  // 4 of 6: 16 / 3, rounded up
  EXPECT_EQ(bound.Tokens(0), 0);
}

// The first unit alone costs a block and a state for 4 tokens, both 3 for 8: the mix
// never stops after one.
TEST(ReuseBound, ADeeperHitSharesTheState) {
  const ReuseBound bound = Of(Hybrid(), {Counting(0, 9), Counting(0, 9)});
  EXPECT_EQ(bound.Tokens(3), 8);
  EXPECT_EQ(bound.Tokens(1), 3);  // 8 / 3, rounded up
}

// What is younger is cheaper: row 2 hits 4 tokens of row 1, row 3 all 8 of row 0's.
TEST(ReuseBound, AgesAreCountedFromTheLastUse) {
  Row other = Counting(0, 4);
  for (int64_t token : Counting(50, 5)) other.push_back(token);
  const std::vector<Row> rows = {Counting(0, 9), other, Counting(0, 9)};
  const ReuseBound bound = Of(Hybrid(), rows);
  // Row 1: 4 tokens for 1 + 1. Row 2: 4 tokens for 1 + 1 (the first unit is one
  // request old), 8 for 1 + 2 + 2. 12 tokens for 7 of num_blocks · 2.
  EXPECT_EQ(bound.UnlimitedTokens(), 12);
  EXPECT_EQ(bound.Tokens(4), 12);
  EXPECT_EQ(bound.Tokens(2), 8);      // 4 of 7: both first units
  EXPECT_EQ(bound.Tokens(3), 8 + 3);  // 2 more of 3 for 4: 8 / 3, rounded up
}

// Without states it is a bound on plain prefix caching too.
TEST(ReuseBound, FullAttentionAlone) {
  ReuseShape shape = Hybrid();
  shape.tails.clear();
  const ReuseBound bound =
      Of(shape, {Counting(0, 9), Counting(100, 9), Counting(0, 9)});
  EXPECT_EQ(bound.Tokens(2), 8);
  EXPECT_EQ(bound.Tokens(1), 4);
}

// --- nothing beats it ---------------------------------------------------------------

// The best that any sequence of choices reaches: after each request keep any subset of
// the blocks and states of what was there before and what it computed.
class BestPossible {
 public:
  // `rows` are sequences of units named by small numbers; at most two deep.
  BestPossible(std::vector<std::vector<int>> rows, int64_t num_blocks)
      : rows_(std::move(rows)), num_blocks_(num_blocks) {}

  int64_t Units() { return After(0, {}); }

 private:
  // An item is a prefix, as a block or as a state.
  using Item = std::pair<std::vector<int>, bool>;
  using Items = std::vector<Item>;

  int64_t After(size_t row, const Items& cached) {
    if (row == rows_.size()) return 0;
    const auto has = [&](size_t depth, bool state) {
      const std::vector<int> prefix(
          rows_[row].begin(),
          rows_[row].begin() + static_cast<std::ptrdiff_t>(depth));
      return std::find(cached.begin(), cached.end(), Item{prefix, state}) !=
             cached.end();
    };
    int64_t hit = 0;
    for (size_t depth = 1; depth <= rows_[row].size() && has(depth, false);
         ++depth) {
      if (has(depth, true)) hit = static_cast<int64_t>(depth);
    }
    Items all = cached;
    for (size_t depth = 1; depth <= rows_[row].size(); ++depth) {
      for (bool state : {false, true}) {
        if (has(depth, state)) continue;
        all.push_back(
            {{rows_[row].begin(),
              rows_[row].begin() + static_cast<std::ptrdiff_t>(depth)},
             state});
      }
    }
    int64_t best = 0;
    const unsigned subsets = 1u << all.size();
    for (unsigned kept = 0; kept < subsets; ++kept) {
      // More is never worse: only full pools, or everything.
      const int count = __builtin_popcount(kept);
      if (count > num_blocks_) continue;
      if (count < num_blocks_ && count < static_cast<int>(all.size())) continue;
      Items next;
      for (size_t i = 0; i < all.size(); ++i) {
        if ((kept >> i) & 1) next.push_back(all[i]);
      }
      best = std::max(best, After(row + 1, next));
    }
    return hit + best;
  }

  const std::vector<std::vector<int>> rows_;
  const int64_t num_blocks_;
};

TEST(ReuseBound, NoChoiceOfWhatIsKeptBeatsIt) {
  RandomStream random(7, "reuse bound");
  int reached = 0;
  for (int world = 0; world < 150; ++world) {
    std::vector<std::vector<int>> units;
    std::vector<Row> rows;
    for (int r = 0; r < 4; ++r) {
      std::vector<int> row;
      Row tokens;
      const auto depth = 1 + random.Below(2);
      for (uint64_t d = 0; d < depth; ++d) {
        row.push_back(static_cast<int>(random.Below(2)));
        for (int64_t t = 0; t < 4; ++t) tokens.push_back(row.back() * 10 + t);
      }
      tokens.push_back(99);  // the token that is computed in any case
      units.push_back(row);
      rows.push_back(tokens);
    }
    const ReuseBound bound = Of(Hybrid(), rows);
    for (int64_t blocks = 0; blocks <= 4; ++blocks) {
      const int64_t best = 4 * BestPossible(units, blocks).Units();
      EXPECT_LE(best, bound.Tokens(blocks)) << "world " << world;
      if (best > 0 && best == bound.Tokens(blocks)) ++reached;
    }
  }
  EXPECT_GT(reached, 50);  // and it is not far away
}

}  // namespace
}  // namespace kvsim
