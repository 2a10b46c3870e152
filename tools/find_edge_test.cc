#include "tools/find_edge.h"

#include <gtest/gtest.h>

namespace kvsim {
namespace {

// Every edge, start and side in a small range: the two neighbours of the edge.
TEST(FindEdgeTest, FindsEveryEdgeExactly) {
  constexpr int64_t kMost = 40;
  for (int64_t edge = 0; edge <= kMost;
       ++edge) {  // holds up to / from edge + 1
    for (int64_t start = 1; start <= kMost; ++start) {
      for (const bool below : {true, false}) {
        const auto found = FindEdge(
            {.start = start, .least = 1, .most = kMost, .holds_below = below},
            [&](int64_t value) -> absl::StatusOr<bool> {
              EXPECT_GE(value, 1);
              EXPECT_LE(value, kMost);
              return (value <= edge) == below;
            });
        ASSERT_TRUE(found.ok());
        const auto low = below ? found->holds : found->fails;
        const auto high = below ? found->fails : found->holds;
        EXPECT_EQ(low.has_value(), edge >= 1);
        EXPECT_EQ(high.has_value(), edge < kMost);
        if (low && high) {
          EXPECT_EQ(*low, edge);
          EXPECT_EQ(*high, edge + 1);
        }
      }
    }
  }
}

TEST(FindEdgeTest, StopsAtThePrecision) {
  int calls = 0;
  const auto found = FindEdge(
      {.start = 1'000, .least = 1, .most = 1'000'000, .precision_ppm = 10'000},
      [&](int64_t value) -> absl::StatusOr<bool> {
        ++calls;
        return value <= 123'456;
      });
  ASSERT_TRUE(found.ok());
  EXPECT_LE(*found->holds, 123'456);
  EXPECT_GT(*found->fails, 123'456);
  EXPECT_LE(*found->fails - *found->holds, *found->holds / 100);
  EXPECT_LE(calls, 15);
}

TEST(FindEdgeTest, PassesAnErrorOn) {
  const auto found = FindEdge({}, [](int64_t) -> absl::StatusOr<bool> {
    return absl::InvalidArgumentError("no trace");
  });
  EXPECT_EQ(found.status().message(), "no trace");
}

}  // namespace
}  // namespace kvsim
