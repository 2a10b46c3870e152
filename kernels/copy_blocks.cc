#include "kernels/copy_blocks.h"

#include <cstddef>
#include <span>

#include "kernels/streaming_copy.h"

namespace kvsim {
namespace {

void CopyLayer(const CopyBlocksArgs& args, int32_t layer, StreamingCopy& copy) {
  const std::span pairs(args.pairs, static_cast<size_t>(args.num_pairs));
  const bool whole = args.bytes == args.pages.block_stride;
  for (int64_t i = 0; i < args.num_pairs;) {
    const int64_t run =
        whole ? RunLength(pairs.subspan(static_cast<size_t>(i))) : 1;
    const ByteRange range = args.RangeOf(layer, i);
    copy.Add(range.to, range.from, range.bytes * run);
    i += run;
  }
}

}  // namespace

LaunchStatus CheckCopyBlocks(const CopyBlocksArgs& args) {
  if (args.num_pairs < 0) {
    return LaunchStatus::BadArgument("num_pairs is negative");
  }
  if (args.pages.num_layers < 0 || args.pages.num_blocks < 0) {
    return LaunchStatus::BadArgument("pages has a negative shape");
  }
  if (args.bytes < 0 || args.bytes > args.pages.block_stride) {
    return LaunchStatus::BadArgument(
        "bytes must be in [0, pages.block_stride]");
  }
  return LaunchStatus::Ok();
}

LaunchStatus CopyBlocksOnHost(const CopyBlocksArgs& args) {
  const LaunchStatus status = CheckCopyBlocks(args);
  if (!status.ok()) return status;
  const PairsCheck pairs = CheckCopyPairs(
      {args.pairs, static_cast<size_t>(args.num_pairs)}, args.pages.num_blocks);
  if (!pairs.ok()) return pairs.status;
  StreamingCopy copy(args.pages.num_layers * args.num_pairs * args.bytes);
  for (int32_t layer = 0; layer < args.pages.num_layers; ++layer) {
    CopyLayer(args, layer, copy);
  }
  return LaunchStatus::Ok();
}

}  // namespace kvsim
