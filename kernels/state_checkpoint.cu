#include "kernels/byte_copy.cuh"
#include "kernels/launch.cuh"
#include "kernels/state_checkpoint.h"

namespace kvsim {
namespace {

// All of these are called by every thread of a block alike.

__device__ void BlockCopy(const ByteRange& range) {
  const int64_t pieces = CopyPieces(range.bytes);
  for (int64_t i = threadIdx.x / kWarp; i < pieces;
       i += kThreadsPerBlock / kWarp) {
    WarpCopy(range.Piece(i));
  }
}

__device__ float LargestInBlock(const float* values, int64_t count) {
  __shared__ float of_warp[kThreadsPerBlock / kWarp];
  float largest = 0;
#pragma unroll 4
  for (int64_t i = threadIdx.x; i < count; i += kThreadsPerBlock) {
    largest = LargerMagnitude(largest, values[i]);
  }
  for (int apart = kWarp / 2; apart > 0; apart /= 2) {
    largest = LargerMagnitude(largest, __shfl_xor_sync(~0u, largest, apart));
  }
  __syncthreads();  // the last head's maxima have been read
  if (threadIdx.x % kWarp == 0) of_warp[threadIdx.x / kWarp] = largest;
  __syncthreads();
  for (int i = 0; i < kThreadsPerBlock / kWarp; ++i) {
    largest = LargerMagnitude(largest, of_warp[i]);
  }
  return largest;
}

// Four codes, stored and loaded as one word.
template <typename Code>
struct alignas(4 * sizeof(Code)) FourCodes {
  Code codes[4];
};

__device__ bool IsAligned(const void* pointer, size_t bytes) {
  return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

// How many elements, from the first, can be moved four at a time.
template <typename Code>
__device__ int64_t InFours(const float* values, const void* codes,
                           int64_t count) {
  const bool aligned = IsAligned(values, sizeof(float4)) &&
                       IsAligned(codes, sizeof(FourCodes<Code>));
  return aligned ? count / 4 * 4 : 0;
}

template <typename Coder>
__device__ void Encode(const Coder& coder, const float* values, int64_t count,
                       std::byte* page) {
  using Code = typename Coder::Type;
  auto* codes = reinterpret_cast<Code*>(page);
  const int64_t in_fours = InFours<Code>(values, codes, count);
#pragma unroll 4
  for (int64_t i = 4 * threadIdx.x; i < in_fours; i += 4 * kThreadsPerBlock) {
    const float4 four = *reinterpret_cast<const float4*>(values + i);
    *reinterpret_cast<FourCodes<Code>*>(codes + i) = {
        {coder.Encode(four.x), coder.Encode(four.y), coder.Encode(four.z),
         coder.Encode(four.w)}};
  }
  for (int64_t i = in_fours + threadIdx.x; i < count; i += kThreadsPerBlock) {
    codes[i] = coder.Encode(values[i]);
  }
}

template <typename Coder>
__device__ void Decode(const Coder& coder, float* values, int64_t count,
                       const std::byte* page) {
  using Code = typename Coder::Type;
  const auto* codes = reinterpret_cast<const Code*>(page);
  const int64_t in_fours = InFours<Code>(values, codes, count);
#pragma unroll 4
  for (int64_t i = 4 * threadIdx.x; i < in_fours; i += 4 * kThreadsPerBlock) {
    const auto four = *reinterpret_cast<const FourCodes<Code>*>(codes + i);
    *reinterpret_cast<float4*>(values + i) = {
        coder.Decode(four.codes[0]), coder.Decode(four.codes[1]),
        coder.Decode(four.codes[2]), coder.Decode(four.codes[3])};
  }
  for (int64_t i = in_fours + threadIdx.x; i < count; i += kThreadsPerBlock) {
    values[i] = coder.Decode(codes[i]);
  }
}

__device__ void SaveHead(const StateFormat& format, int64_t head,
                         const float* values, std::byte* page) {
  const int64_t count = format.HeadElements();
  std::byte* encoded = page + format.HeadOffset(head);
  if (format.encoding == StateEncoding::kFloat32) {
    BlockCopy({encoded, reinterpret_cast<const std::byte*>(values),
               format.HeadBytes()});
  } else if (format.encoding == StateEncoding::kBfloat16) {
    Encode(Bfloat16Code(), values, count, encoded);
  } else {
    const float scale = StateScale(LargestInBlock(values, count));
    if (threadIdx.x == 0) reinterpret_cast<float*>(page)[head] = scale;
    Encode(ScaledInt8Code{scale}, values, count, encoded);
  }
}

__device__ void RestoreHead(const StateFormat& format, int64_t head,
                            float* values, const std::byte* page) {
  const int64_t count = format.HeadElements();
  const std::byte* encoded = page + format.HeadOffset(head);
  if (format.encoding == StateEncoding::kFloat32) {
    BlockCopy(
        {reinterpret_cast<std::byte*>(values), encoded, format.HeadBytes()});
  } else if (format.encoding == StateEncoding::kBfloat16) {
    Decode(Bfloat16Code(), values, count, encoded);
  } else {
    const float scale = reinterpret_cast<const float*>(page)[head];
    Decode(ScaledInt8Code{scale}, values, count, encoded);
  }
}

// The heads of a page, then its convolutions: one block of threads each.
__host__ __device__ int64_t NumParts(const StateCheckpointArgs& args) {
  return args.pages.num_layers * args.num_pairs * (args.format.heads + 1);
}

template <bool kSave>
__global__ void StateCheckpointKernel(StateCheckpointArgs args) {
  const StateFormat& format = args.format;
  const int64_t parts = NumParts(args);
  for (int64_t i = blockIdx.x; i < parts; i += gridDim.x) {
    const int64_t head = i % (format.heads + 1);
    const int64_t page_index = i / (format.heads + 1);
    const auto layer = static_cast<int32_t>(page_index / args.num_pairs);
    const int64_t pair = page_index % args.num_pairs;
    std::byte* page = args.Page(layer, pair);
    if (head < format.heads) {
      float* values = args.Head(layer, pair, head);
      if constexpr (kSave) {
        SaveHead(format, head, values, page);
      } else {
        RestoreHead(format, head, values, page);
      }
    } else if (format.conv_bytes > 0) {
      std::byte* running = args.Convolutions(layer, pair);
      std::byte* saved = page + format.ConvOffset();
      BlockCopy({kSave ? saved : running, kSave ? running : saved,
                 format.conv_bytes});
    }
  }
}

template <bool kSave>
LaunchStatus Launch(const StateCheckpointArgs& args, DeviceStream stream) {
  const LaunchStatus status = CheckStateCheckpoint(args);
  const int64_t parts = status.ok() ? NumParts(args) : 0;
  if (parts == 0) return status;
  return LaunchKernel(StateCheckpointKernel<kSave>,
                      GridBlocks(parts * kThreadsPerBlock), kThreadsPerBlock,
                      args, stream);
}

}  // namespace

LaunchStatus LaunchSaveState(const StateCheckpointArgs& args,
                             DeviceStream stream) {
  return Launch<true>(args, stream);
}

LaunchStatus LaunchRestoreState(const StateCheckpointArgs& args,
                                DeviceStream stream) {
  return Launch<false>(args, stream);
}

}  // namespace kvsim
