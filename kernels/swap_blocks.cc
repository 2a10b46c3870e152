#include "kernels/swap_blocks.h"

#include <cstddef>
#include <span>

#include "kernels/streaming_copy.h"

namespace kvsim {

LaunchStatus CheckSwapBlocks(const SwapBlocksArgs& args) {
  if (args.num_pairs < 0) {
    return LaunchStatus::BadArgument("num_pairs is negative");
  }
  if (args.device.num_layers < 0 || args.device.block_stride < 0) {
    return LaunchStatus::BadArgument("device has a negative shape");
  }
  if (args.device.num_layers != args.host.num_layers ||
      args.device.block_stride != args.host.block_stride) {
    return LaunchStatus::BadArgument(
        "device and host differ in num_layers or block_stride");
  }
  return CheckSwapPairs({args.pairs, static_cast<size_t>(args.num_pairs)},
                        args.From().num_blocks, args.To().num_blocks)
      .status;
}

bool UsesCopyEngine(const SwapBlocksArgs& args) {
  if (args.method != SwapMethod::kBySize) {
    return args.method == SwapMethod::kCopyEngine;
  }
  const std::span pairs(args.pairs, static_cast<size_t>(args.num_pairs));
  int64_t runs = 0;
  for (int64_t i = 0; i < args.num_pairs; ++runs) {
    i += RunLength(pairs.subspan(static_cast<size_t>(i)));
  }
  return args.num_pairs * args.device.block_stride >= runs * kCopyEngineBytes;
}

LaunchStatus SwapBlocksOnHost(const SwapBlocksArgs& args) {
  const LaunchStatus status = CheckSwapBlocks(args);
  if (!status.ok()) return status;
  StreamingCopy copy(args.device.num_layers * args.num_pairs *
                     args.device.block_stride);
  ForEachSwapRange(args, [&](const ByteRange& range) {
    copy.Add(range.to, range.from, range.bytes);
    return true;
  });
  return LaunchStatus::Ok();
}

}  // namespace kvsim
