#include "allocator/lru_stack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <vector>

#include "allocator/key_rows.h"
#include "allocator/tree_rows.h"
#include "base/random.h"

namespace kvsim {
namespace {

using Positions = std::vector<int64_t>;

// The order of last use as a list: the definition.
class NaiveStack {
 public:
  Positions Access(std::span<const uint64_t> row) {
    Positions positions;
    for (const uint64_t key : row) {
      const auto at = std::find(order_.begin(), order_.end(), key);
      if (at == order_.end()) break;
      positions.push_back(std::distance(order_.begin(), at) + 1);
    }
    for (size_t i = row.size(); i-- > 0;) {
      order_.remove(row[i]);
      order_.push_front(row[i]);
    }
    return positions;
  }
  size_t size() const { return order_.size(); }

 private:
  std::list<uint64_t> order_;  // most recent first
};

Positions Expand(const std::vector<LruStack::Run>& runs) {
  Positions positions;
  for (const LruStack::Run& run : runs) {
    EXPECT_EQ(run.begin, static_cast<int64_t>(positions.size()));
    for (int64_t i = 0; i < run.count; ++i) {
      positions.push_back(run.position + i);
    }
  }
  return positions;
}

TEST(LruStackTest, TheLastRowIsOneRunFromTheTop) {
  LruStack stack(3, 100);
  std::vector<LruStack::Run> runs;
  stack.Access(std::vector<uint64_t>{1, 2, 3}, &runs);
  EXPECT_TRUE(runs.empty());
  stack.Access(std::vector<uint64_t>{1, 2, 3, 4}, &runs);
  EXPECT_EQ(runs, (std::vector<LruStack::Run>{{0, 3, 1}}));
  EXPECT_EQ(stack.num_keys(), 4);
}

// 1 2 3, then 1 9: the order is 1 9 2 3, so 2 stands third.
TEST(LruStackTest, AnotherRowPushesTheTailDown) {
  LruStack stack(3, 100);
  std::vector<LruStack::Run> runs;
  stack.Access(std::vector<uint64_t>{1, 2, 3}, &runs);
  stack.Access(std::vector<uint64_t>{1, 9}, &runs);
  EXPECT_EQ(runs, (std::vector<LruStack::Run>{{0, 1, 1}}));
  stack.Access(std::vector<uint64_t>{1, 2, 3}, &runs);
  EXPECT_EQ(runs, (std::vector<LruStack::Run>{{0, 1, 1}, {1, 2, 3}}));
}

void ExpectTwins(const KeyRows& rows) {
  LruStack stack(rows.size(), static_cast<int64_t>(rows.keys.size()));
  NaiveStack twin;
  std::vector<LruStack::Run> runs;
  for (int64_t r = 0; r < rows.size(); ++r) {
    const Positions expected = twin.Access(rows[r]);
    stack.Access(rows[r], &runs);
    ASSERT_EQ(Expand(runs), expected) << "row " << r;
    ASSERT_EQ(stack.num_keys(), static_cast<int64_t>(twin.size()));
  }
}

TEST(LruStackTest, EqualsItsTwinOnRandomTrees) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, "rows");
    ExpectTwins(TreeRows(random, 60, 1 + seed % 4, 8));
  }
}

// Rows as long as several groups of bits, over few paths.
TEST(LruStackTest, EqualsItsTwinOnLongRows) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, "long");
    KeyRows rows;
    std::vector<std::vector<uint64_t>> made = {{}};
    for (int64_t r = 0; r < 24; ++r) {
      std::vector<uint64_t> row = made[random.Below(made.size())];
      row.resize(random.Below(row.size() + 1));
      const size_t length = row.size() + 1 + random.Below(700);
      while (row.size() < length) row.push_back(random.Next());
      rows.Append(row);
      made.push_back(row);
    }
    ExpectTwins(rows);
  }
}

// Every sequence of five rows out of seven over a small tree.
TEST(LruStackTest, EqualsItsTwinOnEverySmallSequence) {
  const std::vector<std::vector<uint64_t>> kRows = {
      {1}, {1, 11}, {1, 12}, {1, 11, 111}, {2}, {2, 21}, {1, 12, 121}};
  int64_t sequences = 1;
  for (int i = 0; i < 5; ++i) sequences *= static_cast<int64_t>(kRows.size());
  for (int64_t s = 0; s < sequences; ++s) {
    KeyRows rows;
    for (int64_t rest = s, i = 0; i < 5; ++i, rest /= 7) {
      rows.Append(kRows[static_cast<size_t>(rest % 7)]);
    }
    ExpectTwins(rows);
  }
}

}  // namespace
}  // namespace kvsim
