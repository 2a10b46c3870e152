#include "kernels/slot_mapping.h"

namespace kvsim {

LaunchStatus CheckSlotMapping(const SlotMappingArgs& args) {
  const LaunchStatus share = CheckRankShare(args.share);
  if (!share.ok()) return share;
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
