#include "kernels/stamp_blocks.h"

namespace kvsim {
namespace {

LaunchStatus CheckContents(const PagedLayers& pages, int64_t num_blocks,
                           int64_t bytes) {
  if (pages.num_layers < 0) {
    return LaunchStatus::BadArgument("pages.num_layers is negative");
  }
  if (num_blocks < 0) {
    return LaunchStatus::BadArgument("num_blocks is negative");
  }
  if (bytes < 0 || bytes > pages.block_stride) {
    return LaunchStatus::BadArgument(
        "bytes must be in [0, pages.block_stride]");
  }
  return LaunchStatus::Ok();
}

uint64_t Checksum(const BlockContents& contents, int64_t block) {
  uint64_t sum = contents.Seed();
  for (int64_t part = 0; part < contents.NumParts(); ++part) {
    sum += contents.SumOfPart(block, part, /*lane=*/0, /*lanes=*/1);
  }
  return sum;
}

BlockVerdict VerdictOf(const VerifyBlocksArgs& args, int64_t i) {
  if (args.blocks[i] == kNullBlock) return BlockVerdict::kOk;
  const BlockVerdict verdict = args.VerdictOfTag(i);
  if (verdict != BlockVerdict::kOk) return verdict;
  return args.VerdictOfContents(i, Checksum(args.Contents(), args.blocks[i]));
}

}  // namespace

LaunchStatus CheckStampBlocks(const StampBlocksArgs& args) {
  return CheckContents(args.pages, args.num_blocks, args.bytes);
}

LaunchStatus CheckVerifyBlocks(const VerifyBlocksArgs& args) {
  return CheckContents(args.pages, args.num_blocks, args.bytes);
}

LaunchStatus StampBlocksOnHost(const StampBlocksArgs& args) {
  const LaunchStatus status = CheckStampBlocks(args);
  if (!status.ok()) return status;
  for (int64_t i = 0; i < args.num_blocks; ++i) {
    if (args.blocks[i] == kNullBlock) continue;
    args.Stamp(i, Checksum(args.Contents(), args.blocks[i]));
  }
  return LaunchStatus::Ok();
}

LaunchStatus VerifyBlocksOnHost(const VerifyBlocksArgs& args) {
  const LaunchStatus status = CheckVerifyBlocks(args);
  if (!status.ok()) return status;
  for (int64_t i = 0; i < args.num_blocks; ++i) {
    args.verdicts[i] = VerdictOf(args, i);
  }
  return LaunchStatus::Ok();
}

}  // namespace kvsim
