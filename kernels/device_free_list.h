// The free queue of a block pool, in device memory: a step takes and gives back
// its blocks without asking the host.
//
// Model:      a ring of block ids. AllocateBlocks pops from the front for all
//             requests of a step, in their order; a step that does not fit takes
//             nothing. ReleaseBlocks puts lists of blocks at the back, or each list
//             in turn at the front, its first block frontmost: what
//             allocator/block_pool.h does with blocks that have a key and with
//             those that have none. So equal requests get equal blocks. A call that
//             gives back a block that is free, or one block twice, gives back
//             nothing. TouchBlocks takes out blocks that were hit by their keys,
//             wherever they stand; blocks that are not free it passes over.
// Invariants: (1) ring[head], ring[head + 1], … mod num_blocks − 1, `size` of them,
//                 are distinct and are the free blocks.
//             (2) bit b % 32 of free_bits[b / 32] is set exactly if b is free.
//             (3) Between calls marks is all zero.
//             (4) The null block is never free.
// Shapes:     ring [num_blocks − 1], free_bits and marks [ceil(num_blocks / 32)],
//             state, and a result per call. AllocateBlocks: counts [num_requests],
//             starts [num_requests + 1], blocks [capacity]. ReleaseBlocks:
//             list_starts [num_lists + 1], released [list_starts[num_lists]].
//             TouchBlocks: hits [num_hits].
// Units:      blocks; num_blocks up to 2^31 − 1.
// Costs:      one kernel a call; but for ResetFreeList one thread block of 1024
//             threads, O(requests + blocks) together; TouchBlocks O(hits + free
//             blocks), for it closes the gaps. No host memory is read or written.
// Errors:     BadArgument naming the argument; what only the device can see is in
//             the result, and then nothing was taken or given back.
// Threads:    calls on one list must be on one stream.
// Source:     vLLM, v1/core/block_pool.py and FreeKVCacheBlockQueue (2026-08-17).
#ifndef KVSIM_KERNELS_DEVICE_FREE_LIST_H_
#define KVSIM_KERNELS_DEVICE_FREE_LIST_H_

#include <cstdint>

#include "base/block_id.h"
#include "kernels/host_device.h"
#include "kernels/launch.h"
#include "kernels/ragged_starts.h"

namespace kvsim {

struct FreeListState {
  int64_t head = 0;  // index into the ring of the block that is popped next
  int64_t size = 0;

  friend bool operator==(const FreeListState&, const FreeListState&) = default;
};

// The memory of a list; whoever holds it owns nothing.
struct DeviceFreeList {
  BlockId* ring = nullptr;
  uint32_t* free_bits = nullptr;
  uint32_t* marks = nullptr;  // blocks of the call under way
  FreeListState* state = nullptr;
  int64_t num_blocks = 0;  // with the null block

  KVSIM_HOST_DEVICE int64_t RingSize() const { return num_blocks - 1; }
  KVSIM_HOST_DEVICE int64_t NumWords() const { return (num_blocks + 31) / 32; }
  // REQUIRES: -RingSize() <= index < 2 * RingSize().
  KVSIM_HOST_DEVICE int64_t Wrap(int64_t index) const {
    if (index < 0) return index + RingSize();
    return index < RingSize() ? index : index - RingSize();
  }
  KVSIM_HOST_DEVICE bool Knows(BlockId block) const {
    return block != kNullBlock && block < num_blocks;
  }
  KVSIM_HOST_DEVICE static int64_t WordOf(BlockId block) { return block / 32; }
  KVSIM_HOST_DEVICE static uint32_t BitOf(BlockId block) {
    return uint32_t{1} << (block % 32);
  }

  // As in a new pool: all blocks but the null block are free, in order of ids.
  KVSIM_HOST_DEVICE static BlockId FirstInRing(int64_t index) {
    return static_cast<BlockId>(index + 1);
  }
  KVSIM_HOST_DEVICE uint32_t FirstFreeBits(int64_t word) const {
    const int64_t left = num_blocks - 32 * word;
    uint32_t bits = ~uint32_t{0};
    if (left < 32) bits = (uint32_t{1} << left) - 1;
    return word == 0 ? bits & ~BitOf(kNullBlock) : bits;
  }
};

struct AllocateResult {
  enum class Code : int32_t {
    kTaken,
    kNoRoom,    // `wanted` blocks are more than are free
    kNoOutput,  // `wanted` blocks are more than args.capacity
    kBadCount,  // a negative count
  };
  Code code = Code::kTaken;
  int64_t wanted = 0;  // the sum of the counts

  friend bool operator==(const AllocateResult&,
                         const AllocateResult&) = default;
};

// Request r gets blocks[starts[r]] … blocks[starts[r + 1] - 1]. `starts` are the
// sums of the counts whatever the result is.
struct AllocateBlocksArgs {
  DeviceFreeList list;
  const int32_t* counts = nullptr;
  int64_t num_requests = 0;
  int64_t* starts = nullptr;
  BlockId* blocks = nullptr;
  int64_t capacity = 0;
  AllocateResult* result = nullptr;

  KVSIM_HOST_DEVICE AllocateResult ResultOf(int64_t wanted, int64_t size,
                                            bool bad_count) const {
    using Code = AllocateResult::Code;
    if (bad_count) return {Code::kBadCount, wanted};
    if (wanted > size) return {Code::kNoRoom, wanted};
    if (wanted > capacity) return {Code::kNoOutput, wanted};
    return {Code::kTaken, wanted};
  }
  // The i-th block taken of a list that stood so.
  KVSIM_HOST_DEVICE BlockId Popped(FreeListState before, int64_t i) const {
    return list.ring[list.Wrap(before.head + i)];
  }
  KVSIM_HOST_DEVICE FreeListState After(FreeListState before,
                                        int64_t taken) const {
    return {list.Wrap(before.head + taken), before.size - taken};
  }
};

enum class FreeEnd : uint8_t { kBack, kFront };

struct ReleaseResult {
  enum class Code : int32_t {
    kReleased,
    kUnknownBlock,   // `block` is the null block or none of the pool
    kDoubleRelease,  // `block` was free, or is given back twice by this call
  };
  Code code = Code::kReleased;
  BlockId block = kNullBlock;  // the smallest id there is to complain about

  friend bool operator==(const ReleaseResult&, const ReleaseResult&) = default;
};

struct ReleaseBlocksArgs {
  DeviceFreeList list;
  FreeEnd end = FreeEnd::kBack;
  const BlockId* released = nullptr;
  const int64_t* list_starts = nullptr;
  int64_t num_lists = 0;
  ReleaseResult* result = nullptr;

  KVSIM_HOST_DEVICE int64_t NumReleased() const {
    return num_lists == 0 ? 0 : list_starts[num_lists];
  }

  // Where released[i] goes: later lists stand before earlier ones in front.
  KVSIM_HOST_DEVICE int64_t RingIndexOf(FreeListState before, int64_t i) const {
    if (end == FreeEnd::kBack) {
      return list.Wrap(list.Wrap(before.head + before.size) + i);
    }
    const int64_t in = kvsim::ListOf(list_starts, num_lists, i);
    const int64_t behind = list_starts[in + 1] - (i - list_starts[in]);
    return list.Wrap(before.head - behind);
  }
  KVSIM_HOST_DEVICE FreeListState After(FreeListState before) const {
    const int64_t released_now = NumReleased();
    const int64_t head = end == FreeEnd::kBack
                             ? before.head
                             : list.Wrap(before.head - released_now);
    return {head, before.size + released_now};
  }

  // The result, told the smallest unknown block and the smallest one given back
  // twice; kNone where there is none.
  static constexpr BlockId kNone = ~BlockId{0};
  KVSIM_HOST_DEVICE ReleaseResult ResultOf(bool unknown, BlockId unknown_block,
                                           bool twice,
                                           BlockId twice_block) const {
    using Code = ReleaseResult::Code;
    if (unknown) return {Code::kUnknownBlock, unknown_block};
    if (twice) return {Code::kDoubleRelease, twice_block};
    return {Code::kReleased, kNullBlock};
  }
};

struct TouchResult {
  enum class Code : int32_t {
    kTouched,
    kUnknownBlock,  // `block` is the null block or none of the pool
  };
  Code code = Code::kTouched;
  BlockId block = kNullBlock;  // the smallest id there is to complain about
  int64_t taken = 0;           // blocks that were free

  friend bool operator==(const TouchResult&, const TouchResult&) = default;
};

// A block may be hit several times.
struct TouchBlocksArgs {
  DeviceFreeList list;
  const BlockId* hits = nullptr;
  int64_t num_hits = 0;
  TouchResult* result = nullptr;

  KVSIM_HOST_DEVICE BlockId* Entry(FreeListState state, int64_t i) const {
    return list.ring + list.Wrap(state.head + i);
  }
  KVSIM_HOST_DEVICE bool IsMarked(BlockId block) const {
    return (list.marks[DeviceFreeList::WordOf(block)] &
            DeviceFreeList::BitOf(block)) != 0;
  }
};

// What host and device both check.
LaunchStatus CheckResetFreeList(const DeviceFreeList& list);
LaunchStatus CheckAllocateBlocks(const AllocateBlocksArgs& args);
LaunchStatus CheckReleaseBlocks(const ReleaseBlocksArgs& args);
LaunchStatus CheckTouchBlocks(const TouchBlocksArgs& args);

// Makes a list of a new pool, in memory of any contents.
LaunchStatus ResetFreeListOnHost(const DeviceFreeList& list);
LaunchStatus LaunchResetFreeList(const DeviceFreeList& list,
                                 DeviceStream stream);

LaunchStatus AllocateBlocksOnHost(const AllocateBlocksArgs& args);
LaunchStatus LaunchAllocateBlocks(const AllocateBlocksArgs& args,
                                  DeviceStream stream);

LaunchStatus ReleaseBlocksOnHost(const ReleaseBlocksArgs& args);
LaunchStatus LaunchReleaseBlocks(const ReleaseBlocksArgs& args,
                                 DeviceStream stream);

LaunchStatus TouchBlocksOnHost(const TouchBlocksArgs& args);
LaunchStatus LaunchTouchBlocks(const TouchBlocksArgs& args,
                               DeviceStream stream);

}  // namespace kvsim

#endif  // KVSIM_KERNELS_DEVICE_FREE_LIST_H_
