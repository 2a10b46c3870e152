// How the positions of a sequence are dealt to context-parallel ranks.
//
// Model:      a manager block covers block_tokens · ranks positions; its entry in a
//             block table is the page on every rank. Ranks take turns of
//             `interleave` positions. Turns divide a page, so a rank's positions,
//             in order, fill its pages row by row without a gap.
// Units:      tokens; rows of this rank.
// Costs:      O(1).
// Errors:     none; CheckRankShare says whether the numbers make sense.
// Source:     vLLM, v1/worker/block_table.py (2026-08-17), decode context
//             parallelism.
#ifndef KVSIM_KERNELS_RANK_SHARE_H_
#define KVSIM_KERNELS_RANK_SHARE_H_

#include <cstdint>

#include "kernels/host_device.h"
#include "kernels/launch.h"

namespace kvsim {

struct RankShare {
  int32_t block_tokens = 0;  // of one rank's page
  int32_t ranks = 1;
  int32_t rank = 0;
  int32_t interleave = 1;  // divides block_tokens

  KVSIM_HOST_DEVICE int64_t ManagerTokens() const {
    return int64_t{block_tokens} * ranks;
  }
  KVSIM_HOST_DEVICE bool Owns(int64_t position) const {
    return position % ManagerTokens() / interleave % ranks == rank;
  }
  // The row inside the page, of a position that this rank owns.
  KVSIM_HOST_DEVICE int64_t RowOf(int64_t position) const {
    const int64_t inside = position % ManagerTokens();
    return inside / (int64_t{interleave} * ranks) * interleave +
           inside % interleave;
  }

  // How many positions below this one are this rank's: the row, counted over all of
  // a sequence's pages, where the rank's positions from here on begin.
  KVSIM_HOST_DEVICE int64_t OwnedBefore(int64_t position) const {
    const int64_t turn = int64_t{interleave} * ranks;
    const int64_t own = position % turn - int64_t{rank} * interleave;
    return position / turn * interleave +
           (own < 0 ? 0 : (own < interleave ? own : interleave));
  }
};

// Ok, or what is wrong with it.
inline LaunchStatus CheckRankShare(const RankShare& share) {
  if (share.block_tokens < 1) {
    return LaunchStatus::BadArgument("share.block_tokens must be positive");
  }
  if (share.ranks < 1 || share.rank < 0 || share.rank >= share.ranks) {
    return LaunchStatus::BadArgument("share.rank must be in [0, share.ranks)");
  }
  if (share.interleave < 1 || share.block_tokens % share.interleave != 0) {
    return LaunchStatus::BadArgument(
        "share.interleave must divide share.block_tokens");
  }
  return LaunchStatus::Ok();
}

}  // namespace kvsim

#endif  // KVSIM_KERNELS_RANK_SHARE_H_
