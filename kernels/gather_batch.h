// A ragged batch of sequences to gather, for tests of gather_sequence.
#ifndef KVSIM_KERNELS_GATHER_BATCH_H_
#define KVSIM_KERNELS_GATHER_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/block_id.h"
#include "base/random.h"
#include "kernels/gather_sequence.h"
#include "kernels/rank_share.h"

namespace kvsim {

struct GatherBatch {
  RankShare share;
  int64_t table_stride = 0;
  std::vector<int64_t> firsts;
  std::vector<int64_t> ends;
  std::vector<BlockId> tables;
  std::vector<int64_t> out_starts = {0};

  // One more sequence, its pages drawn among num_blocks, followed by `slack` rows
  // of the output that nobody fills. `table_stride` must hold its pages.
  void Add(int64_t first, int64_t end, int64_t slack, int32_t num_blocks,
           RandomStream& random) {
    firsts.push_back(first);
    ends.push_back(end);
    for (int64_t i = 0; i < table_stride; ++i) {
      tables.push_back(static_cast<BlockId>(
          random.Below(static_cast<uint64_t>(num_blocks))));
    }
    out_starts.push_back(out_starts.back() + share.OwnedBefore(end) -
                         share.OwnedBefore(first) + slack);
  }

  // All but pages, rows and output.
  GatherSequenceArgs Args() const {
    GatherSequenceArgs args;
    args.share = share;
    args.block_tables = tables.data();
    args.num_sequences = static_cast<int32_t>(firsts.size());
    args.table_stride = table_stride;
    args.first_positions = firsts.data();
    args.end_positions = ends.data();
    args.out_starts = out_starts.data();
    args.out_rows = out_starts.back();
    return args;
  }
};

}  // namespace kvsim

#endif  // KVSIM_KERNELS_GATHER_BATCH_H_
