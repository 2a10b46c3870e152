#include "kernels/rank_share.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace kvsim {
namespace {

// Deals positions one by one and counts.
TEST(RankShareTest, OwnedBeforeCountsOwnedPositions) {
  for (const int32_t block_tokens : {1, 2, 6, 16}) {
    for (const int32_t interleave : {1, 2, 3, 6, 16}) {
      if (block_tokens % interleave != 0) continue;
      for (const int32_t ranks : {1, 2, 3, 8}) {
        for (int32_t rank = 0; rank < ranks; ++rank) {
          const RankShare share = {block_tokens, ranks, rank, interleave};
          ASSERT_TRUE(CheckRankShare(share).ok());
          int64_t owned = 0;
          for (int64_t position = 0; position < 400; ++position) {
            ASSERT_EQ(share.OwnedBefore(position), owned);
            if (!share.Owns(position)) continue;
            // Rows fill pages without a gap, and the pages are those of the table.
            ASSERT_EQ(owned % block_tokens, share.RowOf(position));
            ASSERT_EQ(owned / block_tokens, position / share.ManagerTokens());
            ++owned;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace kvsim
