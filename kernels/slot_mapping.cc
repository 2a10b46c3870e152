#include "kernels/slot_mapping.h"

namespace kvsim {

LaunchStatus CheckSlotMapping(const SlotMappingArgs& args) {
  const RankShare& share = args.share;
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
  if (args.num_tokens < 0 || args.num_padded < args.num_tokens) {
    return LaunchStatus::BadArgument(
        "num_padded must be at least num_tokens, which must not be negative");
  }
  if (args.num_tokens > 0 && args.num_sequences < 1) {
    return LaunchStatus::BadArgument("tokens belong to no sequence");
  }
  if (args.table_stride < 0) {
    return LaunchStatus::BadArgument("table_stride is negative");
  }
  return LaunchStatus::Ok();
}

LaunchStatus SlotMappingOnHost(const SlotMappingArgs& args) {
  const LaunchStatus status = CheckSlotMapping(args);
  if (!status.ok()) return status;
  for (int64_t i = 0; i < args.num_padded; ++i) args.slots[i] = args.SlotOf(i);
  return LaunchStatus::Ok();
}

}  // namespace kvsim
