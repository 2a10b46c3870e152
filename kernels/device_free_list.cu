#include "kernels/device_free_list.h"
#include "kernels/launch.cuh"

namespace kvsim {
namespace {

constexpr int kWarp = 32;
constexpr int kThreads = 1024;  // one thread block of kWarp warps
constexpr uint32_t kAllLanes = 0xFFFFFFFF;

__device__ int64_t SumOfLanesUpTo(int64_t value, int lane) {
  for (int step = 1; step < kWarp; step *= 2) {
    const int64_t lower = __shfl_up_sync(kAllLanes, value, step);
    if (lane >= step) value += lower;
  }
  return value;
}

// The sum of the values of this thread and those before it; `total` is that of all
// threads. May be called again at once.
__device__ int64_t SumOfThreadsUpTo(int64_t value, int64_t* total) {
  __shared__ int64_t warps[kWarp];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int64_t in_warp = SumOfLanesUpTo(value, lane);
  if (lane == kWarp - 1) warps[warp] = in_warp;
  __syncthreads();
  if (warp == 0) warps[lane] = SumOfLanesUpTo(warps[lane], lane);
  __syncthreads();
  const int64_t sum = in_warp + (warp == 0 ? 0 : warps[warp - 1]);
  *total = warps[kWarp - 1];
  __syncthreads();  // warps may be overwritten
  return sum;
}

// Writes args.starts; the sum of all counts.
__device__ int64_t AddUpCounts(const AllocateBlocksArgs& args,
                               bool* bad_count) {
  int64_t before = 0;
  bool bad = false;
  if (threadIdx.x == 0) args.starts[0] = 0;
  for (int64_t first = 0; first < args.num_requests; first += kThreads) {
    const int64_t r = first + threadIdx.x;
    const int64_t count = r < args.num_requests ? args.counts[r] : 0;
    bad = bad || count < 0;
    int64_t total = 0;
    const int64_t sum = SumOfThreadsUpTo(count, &total);
    if (r < args.num_requests) args.starts[r + 1] = before + sum;
    before += total;
  }
  *bad_count = __syncthreads_or(bad) != 0;
  return before;
}

__global__ void ResetFreeListKernel(DeviceFreeList list) {
  for (int64_t i = GlobalThread(); i < list.RingSize(); i += GlobalThreads()) {
    list.ring[i] = DeviceFreeList::FirstInRing(i);
  }
  for (int64_t i = GlobalThread(); i < list.NumWords(); i += GlobalThreads()) {
    list.free_bits[i] = list.FirstFreeBits(i);
    list.marks[i] = 0;
  }
  if (GlobalThread() == 0) *list.state = {0, list.RingSize()};
}

__global__ void __launch_bounds__(kThreads)
    AllocateBlocksKernel(AllocateBlocksArgs args) {
  const FreeListState before = *args.list.state;
  bool bad_count = false;
  // Every thread has read the state when this returns.
  const int64_t wanted = AddUpCounts(args, &bad_count);
  const AllocateResult result = args.ResultOf(wanted, before.size, bad_count);
  const bool take = result.code == AllocateResult::Code::kTaken;
  for (int64_t i = threadIdx.x; take && i < wanted; i += kThreads) {
    const BlockId block = args.Popped(before, i);
    args.blocks[i] = block;
    atomicAnd(args.list.free_bits + DeviceFreeList::WordOf(block),
              ~DeviceFreeList::BitOf(block));
  }
  if (threadIdx.x != 0) return;
  if (take) *args.list.state = args.After(before, wanted);
  *args.result = result;
}

// What a release would do wrong, known to all threads; marks the blocks it names.
__device__ ReleaseResult MarkReleased(const ReleaseBlocksArgs& args) {
  __shared__ BlockId unknown_block;
  __shared__ BlockId twice_block;
  if (threadIdx.x == 0) unknown_block = twice_block = ReleaseBlocksArgs::kNone;
  __syncthreads();
  bool unknown = false;
  bool twice = false;
  for (int64_t i = threadIdx.x; i < args.NumReleased(); i += kThreads) {
    const BlockId block = args.released[i];
    if (!args.list.Knows(block)) {
      unknown = true;
      atomicMin(&unknown_block, block);
      continue;
    }
    const int64_t word = DeviceFreeList::WordOf(block);
    const uint32_t bit = DeviceFreeList::BitOf(block);
    const uint32_t marked = atomicOr(args.list.marks + word, bit);
    if (((marked | args.list.free_bits[word]) & bit) != 0) {
      twice = true;
      atomicMin(&twice_block, block);
    }
  }
  const bool any_unknown = __syncthreads_or(unknown) != 0;
  const bool any_twice = __syncthreads_or(twice) != 0;
  return args.ResultOf(any_unknown, unknown_block, any_twice, twice_block);
}

__global__ void __launch_bounds__(kThreads)
    ReleaseBlocksKernel(ReleaseBlocksArgs args) {
  const FreeListState before = *args.list.state;
  // Every thread has read the state, and every block is marked, when this returns.
  const ReleaseResult result = MarkReleased(args);
  const bool release = result.code == ReleaseResult::Code::kReleased;
  for (int64_t i = threadIdx.x; i < args.NumReleased(); i += kThreads) {
    const BlockId block = args.released[i];
    if (!args.list.Knows(block)) continue;
    const int64_t word = DeviceFreeList::WordOf(block);
    atomicAnd(args.list.marks + word, ~DeviceFreeList::BitOf(block));
    if (!release) continue;
    atomicOr(args.list.free_bits + word, DeviceFreeList::BitOf(block));
    args.list.ring[args.RingIndexOf(before, i)] = block;
  }
  if (threadIdx.x != 0) return;
  if (release) *args.list.state = args.After(before);
  *args.result = result;
}

// Marks the hits, unless one of them is unknown; known to all threads.
__device__ TouchResult MarkHits(const TouchBlocksArgs& args) {
  __shared__ BlockId unknown_block;
  if (threadIdx.x == 0) unknown_block = ~BlockId{0};
  __syncthreads();
  bool unknown = false;
  for (int64_t i = threadIdx.x; i < args.num_hits; i += kThreads) {
    if (args.list.Knows(args.hits[i])) continue;
    unknown = true;
    atomicMin(&unknown_block, args.hits[i]);
  }
  if (__syncthreads_or(unknown) != 0) {
    return {TouchResult::Code::kUnknownBlock, unknown_block, 0};
  }
  for (int64_t i = threadIdx.x; i < args.num_hits; i += kThreads) {
    const BlockId block = args.hits[i];
    atomicOr(args.list.marks + DeviceFreeList::WordOf(block),
             DeviceFreeList::BitOf(block));
  }
  __syncthreads();
  return {};
}

// Moves the blocks without a mark together; how many there are. Entries are written
// behind or in the round that read them, after all threads have read.
__device__ int64_t CloseGaps(const TouchBlocksArgs& args,
                             FreeListState before) {
  int64_t kept = 0;
  for (int64_t first = 0; first < before.size; first += kThreads) {
    const int64_t i = first + threadIdx.x;
    const BlockId block = i < before.size ? *args.Entry(before, i) : kNullBlock;
    const bool keep = i < before.size && !args.IsMarked(block);
    int64_t total = 0;
    const int64_t rank = SumOfThreadsUpTo(keep ? 1 : 0, &total);
    if (keep) *args.Entry(before, kept + rank - 1) = block;
    kept += total;
  }
  return kept;
}

__global__ void __launch_bounds__(kThreads)
    TouchBlocksKernel(TouchBlocksArgs args) {
  const FreeListState before = *args.list.state;
  TouchResult result = MarkHits(args);
  if (result.code == TouchResult::Code::kTouched) {
    const int64_t kept = CloseGaps(args, before);
    __syncthreads();  // all threads have read the marks
    for (int64_t i = threadIdx.x; i < args.num_hits; i += kThreads) {
      const int64_t word = DeviceFreeList::WordOf(args.hits[i]);
      const uint32_t others = ~DeviceFreeList::BitOf(args.hits[i]);
      atomicAnd(args.list.marks + word, others);
      atomicAnd(args.list.free_bits + word, others);
    }
    result.taken = before.size - kept;
    if (threadIdx.x == 0) *args.list.state = {before.head, kept};
  }
  if (threadIdx.x == 0) *args.result = result;
}

}  // namespace

LaunchStatus LaunchResetFreeList(const DeviceFreeList& list,
                                 DeviceStream stream) {
  const LaunchStatus status = CheckResetFreeList(list);
  if (!status.ok()) return status;
  return LaunchKernel(ResetFreeListKernel, GridBlocks(list.RingSize()),
                      kThreadsPerBlock, list, stream);
}

LaunchStatus LaunchAllocateBlocks(const AllocateBlocksArgs& args,
                                  DeviceStream stream) {
  const LaunchStatus status = CheckAllocateBlocks(args);
  if (!status.ok()) return status;
  return LaunchKernel(AllocateBlocksKernel, 1, kThreads, args, stream);
}

LaunchStatus LaunchReleaseBlocks(const ReleaseBlocksArgs& args,
                                 DeviceStream stream) {
  const LaunchStatus status = CheckReleaseBlocks(args);
  if (!status.ok()) return status;
  return LaunchKernel(ReleaseBlocksKernel, 1, kThreads, args, stream);
}

LaunchStatus LaunchTouchBlocks(const TouchBlocksArgs& args,
                               DeviceStream stream) {
  const LaunchStatus status = CheckTouchBlocks(args);
  if (!status.ok()) return status;
  return LaunchKernel(TouchBlocksKernel, 1, kThreads, args, stream);
}

}  // namespace kvsim
