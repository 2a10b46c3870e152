#include "kernels/gather_sequence.h"

#include "kernels/streaming_copy.h"

namespace kvsim {

LaunchStatus CheckGatherSequence(const GatherSequenceArgs& args) {
  const LaunchStatus share = CheckRankShare(args.share);
  if (!share.ok()) return share;
  const PagedLayers& pages = args.pages;
  if (pages.block_tokens != args.share.block_tokens) {
    return LaunchStatus::BadArgument(
        "pages.block_tokens must be share.block_tokens");
  }
  if (pages.num_layers < 0 || args.num_sequences < 0 || args.table_stride < 0 ||
      args.out_rows < 0) {
    return LaunchStatus::BadArgument("a count is negative");
  }
  if (args.row_bytes < 1 || args.row_stride < args.row_bytes) {
    return LaunchStatus::BadArgument(
        "row_stride must be at least row_bytes, which must be positive");
  }
  const int64_t last_row = (pages.block_tokens - 1) * args.row_stride;
  if (args.row_offset < 0 ||
      args.row_offset + last_row + args.row_bytes > pages.block_stride) {
    return LaunchStatus::BadArgument("rows reach outside pages.block_stride");
  }
  return LaunchStatus::Ok();
}

LaunchStatus GatherSequenceOnHost(const GatherSequenceArgs& args) {
  const LaunchStatus status = CheckGatherSequence(args);
  if (!status.ok()) return status;
  StreamingCopy copy(args.pages.num_layers * args.out_rows * args.row_bytes);
  for (int32_t layer = 0; layer < args.pages.num_layers; ++layer) {
    for (int32_t s = 0; s < args.num_sequences; ++s) {
      const int64_t rows = args.RowsOf(s);
      for (int64_t index = 0; index < rows;) {
        const ByteRange range = args.RangeAt(layer, s, index, rows - index);
        copy.Add(range.to, range.from, range.bytes);
        index += range.bytes / args.row_bytes;
      }
    }
  }
  return LaunchStatus::Ok();
}

}  // namespace kvsim
