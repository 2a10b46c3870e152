#include "traces/shared_prefix.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "traces/partial_tail.h"
#include "traces/request_keys.h"
#include "traces/request_tokens.h"
#include "traces/trace_request.h"

namespace kvsim {
namespace {

TraceRequest Row(int64_t id, int64_t input, std::vector<uint64_t> ids) {
  TraceRequest row;
  row.id = id;
  row.input_length = input;
  row.output_length = 8;
  row.hash_block = 16;
  row.hash_ids = std::move(ids);
  return row;
}

TEST(SharedPrefixTest, EndsAtTheFirstDifference) {
  const RequestTokens a(Row(0, 40, {1, 2}), PartialTail::kUnique);
  const RequestTokens b(Row(1, 40, {1, 2}), PartialTail::kUnique);
  const RequestTokens c(Row(2, 40, {1, 3}), PartialTail::kUnique);
  EXPECT_EQ(SharedPrefix(a, b, 40), 32);  // their tails are their own
  EXPECT_EQ(SharedPrefix(a, c, 40), 16);
  EXPECT_EQ(SharedPrefix(a, a, 1000), 1000);  // outputs without end
  EXPECT_EQ(SharedPrefix(a, b, 20), 20);
  EXPECT_EQ(SharedPrefix(a, b, 0), 0);
}

TEST(SharedPrefixTest, ATurnRepeatsTheOutputBeforeIt) {
  TraceRequest next = Row(1, 64, {1, 2, 7});
  next.previous = 0;
  const RequestTokens first(Row(0, 40, {1, 2}), PartialTail::kUnique);
  const RequestTokens second(next, PartialTail::kUnique, first);
  EXPECT_EQ(SharedPrefix(first, second, 64), 48);  // 40 and 8 outputs
}

// Keys of blocks of one token name the prefix that ends there.
TEST(SharedPrefixTest, AgreesWithKeysOfSingleTokens) {
  RandomStream random(7, "shared-prefix");
  for (int round = 0; round < 300; ++round) {
    std::vector<RequestTokens> two;
    for (int64_t id = 0; id < 2; ++id) {
      const auto blocks = static_cast<int64_t>(random.Below(5));
      const auto partial = static_cast<int64_t>(random.Below(16));
      std::vector<uint64_t> ids;
      for (int64_t i = 0; i < blocks + (partial > 0 ? 1 : 0); ++i) {
        ids.push_back(random.Below(4) == 0 ? random.Below(2) : 5);
      }
      two.emplace_back(
          Row(id, std::max<int64_t>(1, blocks * 16 + partial), ids),
          round % 2 == 0 ? PartialTail::kUnique : PartialTail::kShared);
    }
    RequestKeys a(&two[0], 1), b(&two[1], 1);
    constexpr int64_t kLimit = 100;
    int64_t equal = 0;
    while (equal < kLimit && a.Prefix(kLimit)[static_cast<size_t>(equal)] ==
                                 b.Prefix(kLimit)[static_cast<size_t>(equal)]) {
      ++equal;
    }
    EXPECT_EQ(SharedPrefix(two[0], two[1], kLimit), equal) << round;
  }
}

}  // namespace
}  // namespace kvsim
