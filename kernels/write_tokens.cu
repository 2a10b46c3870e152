#include <algorithm>

#include "kernels/launch.cuh"
#include "kernels/write_tokens.h"

namespace kvsim {
namespace {

constexpr int kWarpThreads = 32;
// Elements of a quantised group that a thread takes at a time: 16 bytes of bf16.
constexpr int kElements = 8;
// Rows that a team of threads takes one after another: enough to hide what every
// row costs, few enough for the blocks of a launch to spread evenly.
constexpr int64_t kRowsPerTeam = 4;

// Threads that share `items`: a power of two, a warp at most.
__host__ __device__ inline int TeamThreads(int64_t items) {
  int threads = 1;
  while (threads < kWarpThreads && threads < items) threads *= 2;
  return threads;
}
__host__ __device__ inline int TeamOf(const PagePart& part) {
  return TeamThreads(part.IsCopy()
                         ? (part.SourceRowBytes() + 15) / 16
                         : (part.group_elements + kElements - 1) / kElements);
}
// What a team takes at a time: rows that are copied, groups that are quantised.
__host__ __device__ inline int64_t Units(const PagePart& part, int64_t tokens) {
  return part.IsCopy() ? tokens : tokens * part.groups;
}

__device__ inline bool IsAligned(const void* address, unsigned bytes) {
  return reinterpret_cast<uintptr_t>(address) % bytes == 0;
}

// --- copies --------------------------------------------------------------------

// Four loads are under way before the first store.
template <typename Word>
__device__ inline void CopyWords(const std::byte* from, std::byte* to,
                                 uint32_t count, uint32_t lane,
                                 uint32_t lanes) {
  const Word* __restrict__ source = reinterpret_cast<const Word*>(from);
  Word* __restrict__ target = reinterpret_cast<Word*>(to);
  uint32_t i = lane;
#pragma unroll 1
  for (; i + 3 * lanes < count; i += 4 * lanes) {
    const Word a = source[i];
    const Word b = source[i + lanes];
    const Word c = source[i + 2 * lanes];
    const Word d = source[i + 3 * lanes];
    target[i] = a;
    target[i + lanes] = b;
    target[i + 2 * lanes] = c;
    target[i + 3 * lanes] = d;
  }
#pragma unroll 1
  for (; i < count; i += lanes) target[i] = source[i];
}

__device__ inline void CopyRow(const std::byte* from, std::byte* to,
                               uint32_t bytes, uint32_t lane, uint32_t lanes) {
  uint32_t done = 0;
  if (IsAligned(from, 16) && IsAligned(to, 16)) {
    done = bytes / 16 * 16;
    CopyWords<uint4>(from, to, bytes / 16, lane, lanes);
  } else if (IsAligned(from, 4) && IsAligned(to, 4)) {
    done = bytes / 4 * 4;
    CopyWords<uint32_t>(from, to, bytes / 4, lane, lanes);
  }
#pragma unroll 1
  for (uint32_t i = done + lane; i < bytes; i += lanes) to[i] = from[i];
}

__device__ inline void CopyRows(const WriteTokensArgs& args,
                                const PagePart& part, const RowSource& source,
                                int32_t layer) {
  const int lanes = TeamOf(part);
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const auto bytes = static_cast<uint32_t>(part.SourceRowBytes());
#pragma unroll 1
  for (int64_t token = GlobalThread() / lanes; token < args.num_tokens;
       token += GlobalThreads() / lanes) {
    const int64_t slot = args.slots[token];
    if (slot < 0) continue;
    const PageRow at = RowOfSlot(slot, args.pages.block_tokens);
    CopyRow(source.Row(layer, token),
            args.pages.Page(layer, at.page) + part.ElementOffset(at.row, 0),
            bytes, lane, lanes);
  }
}

// --- quantised groups ----------------------------------------------------------

// The threads of this team, which runs apart from others of its warp.
__device__ inline unsigned TeamMask(int lanes) {
  const unsigned first = threadIdx.x % kWarpThreads / lanes * lanes;
  return (0xffffffffu >> (kWarpThreads - lanes)) << first;
}

// Two bf16 of a word of memory, the first one in its low half.
__device__ inline float LowOf(uint32_t pair) {
  return DecodeBf16(static_cast<uint16_t>(pair & 0xffff));
}
__device__ inline float HighOf(uint32_t pair) {
  return DecodeBf16(static_cast<uint16_t>(pair >> 16));
}

__device__ inline float LargerOfPair(float magnitude, uint32_t pair) {
  return LargerMagnitude(LargerMagnitude(magnitude, LowOf(pair)), HighOf(pair));
}

__device__ inline uint32_t EncodePair(ElementCode code, uint32_t pair,
                                      float scale) {
  const uint32_t low = EncodeElement(code, LowOf(pair) / scale);
  const uint32_t high = EncodeElement(code, HighOf(pair) / scale);
  return low | high << 8;
}

// A group's elements; `wide` when they can be moved kElements at a time.
struct Group {
  const std::byte* from;
  std::byte* to;
  int32_t elements;
  bool wide;

  __device__ Group(const std::byte* from, std::byte* to, int32_t elements)
      : from(from),
        to(to),
        elements(elements),
        wide(elements % kElements == 0 && IsAligned(from, 16) &&
             IsAligned(to, 4)) {}

  __device__ uint4 Load(int32_t first) const {
    return reinterpret_cast<const uint4*>(from)[first / kElements];
  }
  __device__ float Element(int32_t index) const {
    return DecodeBf16(reinterpret_cast<const uint16_t*>(from)[index]);
  }
};

// The largest magnitude of the group, the same for all threads of the team.
__device__ inline float LargestMagnitude(const Group& group, int lane,
                                         int lanes) {
  float magnitude = 0;
  if (group.wide) {
#pragma unroll 1
    for (int32_t i = lane * kElements; i < group.elements;
         i += lanes * kElements) {
      const uint4 eight = group.Load(i);
      magnitude = LargerOfPair(magnitude, eight.x);
      magnitude = LargerOfPair(magnitude, eight.y);
      magnitude = LargerOfPair(magnitude, eight.z);
      magnitude = LargerOfPair(magnitude, eight.w);
    }
  } else {
#pragma unroll 1
    for (int32_t i = lane; i < group.elements; i += lanes) {
      magnitude = LargerMagnitude(magnitude, group.Element(i));
    }
  }
  const unsigned team = TeamMask(lanes);
  for (int distance = lanes / 2; distance > 0; distance /= 2) {
    magnitude =
        LargerMagnitude(magnitude, __shfl_xor_sync(team, magnitude, distance));
  }
  return magnitude;
}

__device__ inline void EncodeGroup(const Group& group, ElementCode code,
                                   float scale, int lane, int lanes) {
  if (group.wide) {
#pragma unroll 1
    for (int32_t i = lane * kElements; i < group.elements;
         i += lanes * kElements) {
      const uint4 eight = group.Load(i);
      // Heads that are followed by a scale lie on multiples of 4 only.
      auto* to = reinterpret_cast<uint32_t*>(group.to + i);
      to[0] = EncodePair(code, eight.x, scale) |
              EncodePair(code, eight.y, scale) << 16;
      to[1] = EncodePair(code, eight.z, scale) |
              EncodePair(code, eight.w, scale) << 16;
    }
  } else {
#pragma unroll 1
    for (int32_t i = lane; i < group.elements; i += lanes) {
      group.to[i] = std::byte{EncodeElement(code, group.Element(i) / scale)};
    }
  }
}

__device__ inline void StoreScale(ScalePlace place, float scale,
                                  std::byte* to) {
  const uint32_t bits = BitsOfFloat(scale);
  if (place == ScalePlace::kUe8m0) {
    *to = std::byte{EncodeUe8m0(scale)};
  } else if (IsAligned(to, 4)) {
    *reinterpret_cast<uint32_t*>(to) = bits;
  } else {
    for (int i = 0; i < 4; ++i) {
      to[i] = std::byte{static_cast<uint8_t>(bits >> (8 * i))};
    }
  }
}

__device__ inline void EncodeGroups(const WriteTokensArgs& args,
                                    const PagePart& part,
                                    const RowSource& source, int32_t layer) {
  const int lanes = TeamOf(part);
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const int64_t units = Units(part, args.num_tokens);
#pragma unroll 1
  for (int64_t unit = GlobalThread() / lanes; unit < units;
       unit += GlobalThreads() / lanes) {
    const int64_t token = unit / part.groups;
    const int64_t index = unit % part.groups;
    const int64_t slot = args.slots[token];
    if (slot < 0) continue;
    const PageRow at = RowOfSlot(slot, args.pages.block_tokens);
    std::byte* page = args.pages.Page(layer, at.page);
    const Group group(
        source.Row(layer, token) + index * part.SourceGroupBytes(),
        page + part.ElementOffset(at.row, index), part.group_elements);
    float scale;
    if (part.HasScalesInPage()) {
      scale = GroupScale(part.scale_rule, LargestMagnitude(group, lane, lanes));
      if (lane == 0) {
        StoreScale(part.scale_place, scale,
                   page + part.ScaleOffset(at.row, index));
      }
    } else {
      scale = source.scales[layer];
    }
    EncodeGroup(group, part.code, scale, lane, lanes);
  }
}

// --- launch --------------------------------------------------------------------

template <bool kOnlyCopies>
__device__ inline void WritePart(const WriteTokensArgs& args,
                                 const PagePart& part, const RowSource& source,
                                 int32_t layer) {
  if (kOnlyCopies || part.IsCopy()) {
    CopyRows(args, part, source, layer);
  } else {
    EncodeGroups(args, part, source, layer);
  }
}

// A grid of tokens by layers. Constant indices keep the arguments where they are.
template <bool kOnlyCopies>
__global__ void __launch_bounds__(kThreadsPerBlock, kOnlyCopies ? 5 : 4)
    WriteTokensKernel(const __grid_constant__ WriteTokensArgs args) {
  for (int32_t layer = static_cast<int32_t>(blockIdx.y);
       layer < args.pages.num_layers;
       layer += static_cast<int32_t>(gridDim.y)) {
    WritePart<kOnlyCopies>(args, args.format.parts[0], args.sources[0], layer);
    if (args.format.num_parts > 1) {
      WritePart<kOnlyCopies>(args, args.format.parts[1], args.sources[1],
                             layer);
    }
  }
}

dim3 GridOf(const WriteTokensArgs& args) {
  int64_t threads = 1;
  for (int p = 0; p < args.format.num_parts; ++p) {
    const PagePart& part = args.format.parts[p];
    const int64_t teams =
        (Units(part, args.num_tokens) + kRowsPerTeam - 1) / kRowsPerTeam;
    threads = std::max(threads, teams * TeamOf(part));
  }
  constexpr int64_t kMaxColumns = 0x7fffffff;
  constexpr int32_t kMaxRows = 0xffff;
  const int64_t blocks = (threads + kThreadsPerBlock - 1) / kThreadsPerBlock;
  return dim3(static_cast<unsigned>(std::min(blocks, kMaxColumns)),
              static_cast<unsigned>(std::min(args.pages.num_layers, kMaxRows)));
}

bool OnlyCopies(const PageFormat& format) {
  for (int p = 0; p < format.num_parts; ++p) {
    if (!format.parts[p].IsCopy()) return false;
  }
  return true;
}

}  // namespace

LaunchStatus LaunchWriteTokens(const WriteTokensArgs& args,
                               DeviceStream stream) {
  const LaunchStatus status = CheckWriteTokens(args);
  if (!status.ok() || args.num_tokens == 0 || args.pages.num_layers == 0) {
    return status;
  }
  const auto kernel = OnlyCopies(args.format) ? WriteTokensKernel<true>
                                              : WriteTokensKernel<false>;
  return LaunchKernel(kernel, GridOf(args), kThreadsPerBlock, args, stream);
}

}  // namespace kvsim
