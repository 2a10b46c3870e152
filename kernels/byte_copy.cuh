// A warp copies a range of memory; see byte_copy.h.
#ifndef KVSIM_KERNELS_BYTE_COPY_CUH_
#define KVSIM_KERNELS_BYTE_COPY_CUH_

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "kernels/byte_copy.h"
#include "kernels/launch.cuh"

namespace kvsim {

inline constexpr int kWarp = 32;

// This thread's warp among all of the grid, and how many there are.
__device__ inline int64_t GlobalWarp() { return GlobalThread() / kWarp; }
__device__ inline int64_t GlobalWarps() { return GlobalThreads() / kWarp; }

template <typename Word>
__device__ inline void WarpCopyWords(std::byte* __restrict__ to,
                                     const std::byte* __restrict__ from,
                                     int words, int lane) {
  constexpr int kInFlight = kCopyPiece / 16 / kWarp;
  auto* target = reinterpret_cast<Word*>(to);
  const auto* source = reinterpret_cast<const Word*>(from);
  int at = lane;
#pragma unroll 1
  for (; at + (kInFlight - 1) * kWarp < words; at += kInFlight * kWarp) {
    Word values[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) values[i] = source[at + i * kWarp];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) target[at + i * kWarp] = values[i];
  }
  // Fewer words than that for this lane.
#pragma unroll 4
  for (; at < words; at += kWarp) target[at] = source[at];
}

// Called by all lanes of a warp with the same range, of less than 2^31 bytes.
__device__ inline void WarpCopy(const ByteRange& range) {
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  const RangeSplit split = SplitRange(range);
  if (lane < split.head) range.to[lane] = range.from[lane];
  const int64_t last = range.bytes - split.tail;
  if (lane < split.tail) range.to[last + lane] = range.from[last + lane];
  const int words = static_cast<int>(split.words);
  std::byte* to = range.to + split.head;
  const std::byte* from = range.from + split.head;
  switch (split.width) {
    case 16:
      return WarpCopyWords<uint4>(to, from, words, lane);
    case 8:
      return WarpCopyWords<uint2>(to, from, words, lane);
    case 4:
      return WarpCopyWords<uint32_t>(to, from, words, lane);
    case 2:
      return WarpCopyWords<uint16_t>(to, from, words, lane);
    default:
      return WarpCopyWords<uint8_t>(to, from, words, lane);
  }
}

}  // namespace kvsim

#endif  // KVSIM_KERNELS_BYTE_COPY_CUH_
