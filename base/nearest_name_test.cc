#include "base/nearest_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvsim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NearestName, CountsInsertionsRemovalsAndReplacements) {
  EXPECT_EQ(EditDistance("block", "block"), 0u);
  EXPECT_EQ(EditDistance("block", "blocks"), 1u);    // one insertion
  EXPECT_EQ(EditDistance("block", "lock"), 1u);      // one removal
  EXPECT_EQ(EditDistance("block", "black"), 1u);     // one replacement
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);  // two replaced, one added
  EXPECT_EQ(EditDistance("", "abc"), 3u);
}

TEST(NearestName, ListsTheNearestFirstAndNothingFarAway) {
  const std::vector<absl::string_view> names = {"--max-model-len",
                                                "--max-num-seqs", "--port"};
  EXPECT_THAT(NearestNames("--max-model-length", names, 2),
              ElementsAre("--max-model-len"));
  EXPECT_THAT(NearestNames("--zzzzzzzzzz", names, 2), IsEmpty());
}

}  // namespace
}  // namespace kvsim
