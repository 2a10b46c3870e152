#include "kernels/device_free_list.h"

#include <algorithm>

namespace kvsim {
namespace {

// What a release would do wrong; marks the blocks it names.
ReleaseResult MarkReleased(const ReleaseBlocksArgs& args) {
  const DeviceFreeList& list = args.list;
  bool unknown = false;
  bool twice = false;
  BlockId unknown_block = ReleaseBlocksArgs::kNone;
  BlockId twice_block = ReleaseBlocksArgs::kNone;
  for (int64_t i = 0; i < args.NumReleased(); ++i) {
    const BlockId block = args.released[i];
    if (!list.Knows(block)) {
      unknown = true;
      unknown_block = std::min(unknown_block, block);
      continue;
    }
    const int64_t word = DeviceFreeList::WordOf(block);
    const uint32_t bit = DeviceFreeList::BitOf(block);
    if (((list.free_bits[word] | list.marks[word]) & bit) != 0) {
      twice = true;
      twice_block = std::min(twice_block, block);
    }
    list.marks[word] |= bit;
  }
  return args.ResultOf(unknown, unknown_block, twice, twice_block);
}

TouchResult CheckHits(const TouchBlocksArgs& args) {
  TouchResult result;
  for (int64_t i = 0; i < args.num_hits; ++i) {
    const BlockId block = args.hits[i];
    if (args.list.Knows(block)) continue;
    const bool first = result.code == TouchResult::Code::kTouched;
    result.code = TouchResult::Code::kUnknownBlock;
    result.block = first ? block : std::min(result.block, block);
  }
  return result;
}

}  // namespace

LaunchStatus CheckResetFreeList(const DeviceFreeList& list) {
  if (list.num_blocks < 2 || list.num_blocks > 0x7FFFFFFF) {
    return LaunchStatus::BadArgument(
        "list.num_blocks must be in [2, 2147483647]");
  }
  return LaunchStatus::Ok();
}

LaunchStatus CheckAllocateBlocks(const AllocateBlocksArgs& args) {
  if (args.num_requests < 0) {
    return LaunchStatus::BadArgument("num_requests is negative");
  }
  if (args.capacity < 0) {
    return LaunchStatus::BadArgument("capacity is negative");
  }
  return CheckResetFreeList(args.list);
}

LaunchStatus CheckReleaseBlocks(const ReleaseBlocksArgs& args) {
  if (args.num_lists < 0) {
    return LaunchStatus::BadArgument("num_lists is negative");
  }
  return CheckResetFreeList(args.list);
}

LaunchStatus CheckTouchBlocks(const TouchBlocksArgs& args) {
  if (args.num_hits < 0) {
    return LaunchStatus::BadArgument("num_hits is negative");
  }
  return CheckResetFreeList(args.list);
}

LaunchStatus ResetFreeListOnHost(const DeviceFreeList& list) {
  const LaunchStatus status = CheckResetFreeList(list);
  if (!status.ok()) return status;
  for (int64_t i = 0; i < list.RingSize(); ++i) {
    list.ring[i] = DeviceFreeList::FirstInRing(i);
  }
  for (int64_t word = 0; word < list.NumWords(); ++word) {
    list.free_bits[word] = list.FirstFreeBits(word);
    list.marks[word] = 0;
  }
  *list.state = {0, list.RingSize()};
  return LaunchStatus::Ok();
}

LaunchStatus AllocateBlocksOnHost(const AllocateBlocksArgs& args) {
  const LaunchStatus status = CheckAllocateBlocks(args);
  if (!status.ok()) return status;
  const DeviceFreeList& list = args.list;
  bool bad_count = false;
  args.starts[0] = 0;
  for (int64_t r = 0; r < args.num_requests; ++r) {
    bad_count = bad_count || args.counts[r] < 0;
    args.starts[r + 1] = args.starts[r] + args.counts[r];
  }
  const FreeListState before = *list.state;
  const int64_t wanted = args.starts[args.num_requests];
  *args.result = args.ResultOf(wanted, before.size, bad_count);
  if (args.result->code != AllocateResult::Code::kTaken) return status;
  for (int64_t i = 0; i < wanted; ++i) {
    const BlockId block = args.Popped(before, i);
    args.blocks[i] = block;
    list.free_bits[DeviceFreeList::WordOf(block)] &=
        ~DeviceFreeList::BitOf(block);
  }
  *list.state = args.After(before, wanted);
  return status;
}

LaunchStatus ReleaseBlocksOnHost(const ReleaseBlocksArgs& args) {
  const LaunchStatus status = CheckReleaseBlocks(args);
  if (!status.ok()) return status;
  const DeviceFreeList& list = args.list;
  const FreeListState before = *list.state;
  *args.result = MarkReleased(args);
  const bool release = args.result->code == ReleaseResult::Code::kReleased;
  for (int64_t i = 0; i < args.NumReleased(); ++i) {
    const BlockId block = args.released[i];
    if (!list.Knows(block)) continue;
    const int64_t word = DeviceFreeList::WordOf(block);
    list.marks[word] &= ~DeviceFreeList::BitOf(block);
    if (!release) continue;
    list.free_bits[word] |= DeviceFreeList::BitOf(block);
    list.ring[args.RingIndexOf(before, i)] = block;
  }
  if (release) *list.state = args.After(before);
  return status;
}

LaunchStatus TouchBlocksOnHost(const TouchBlocksArgs& args) {
  const LaunchStatus status = CheckTouchBlocks(args);
  if (!status.ok()) return status;
  const DeviceFreeList& list = args.list;
  *args.result = CheckHits(args);
  if (args.result->code != TouchResult::Code::kTouched) return status;
  for (int64_t i = 0; i < args.num_hits; ++i) {
    list.marks[DeviceFreeList::WordOf(args.hits[i])] |=
        DeviceFreeList::BitOf(args.hits[i]);
  }
  const FreeListState before = *list.state;
  int64_t kept = 0;
  for (int64_t i = 0; i < before.size; ++i) {
    const BlockId block = *args.Entry(before, i);
    if (!args.IsMarked(block)) *args.Entry(before, kept++) = block;
  }
  for (int64_t i = 0; i < args.num_hits; ++i) {
    const int64_t word = DeviceFreeList::WordOf(args.hits[i]);
    list.marks[word] &= ~DeviceFreeList::BitOf(args.hits[i]);
    list.free_bits[word] &= ~DeviceFreeList::BitOf(args.hits[i]);
  }
  *list.state = {before.head, kept};
  args.result->taken = before.size - kept;
  return status;
}

}  // namespace kvsim
