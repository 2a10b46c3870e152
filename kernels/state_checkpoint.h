// Saves recurrent states to pages, and restores them.
//
// Model:      a running state is, for each layer, heads · key_dim · value_dim floats
//             in a slot of its own and the rows of its convolutions, as raw bytes. A
//             checkpoint is one page for each layer: the scales of the heads
//             (kInt8 only, fp32), the encoded heads, the convolutions' bytes. What
//             follows in the page is padding and left alone.
//             kFloat32 is exact. kBfloat16 rounds to nearest, ties to even.
//             kInt8 stores round(x / scale), where scale is the largest magnitude of
//             the head over 127, not below 2^-126: |x - x'| is at most half of it,
//             apart from the rounding of a few float operations. States are finite;
//             of an infinite or NaN element, and its head, nothing is promised.
// Shapes:     states [num_layers] -> floats [num_slots][state_stride];
//             convolutions [num_layers] -> bytes [num_slots][conv_stride];
//             pairs [num_pairs].
// Units:      floats for states, bytes for the rest.
// Costs:      each byte read once (kInt8: the state twice, the second time from the
//             caches) and written once; on a device a thread block takes a head.
// Errors:     BadArgument naming the argument. Slots and blocks are not checked on a
//             device. REQUIRES: no two pairs write the same page or slot; pages and
//             states are aligned to 4 bytes (16 is faster).
#ifndef KVSIM_KERNELS_STATE_CHECKPOINT_H_
#define KVSIM_KERNELS_STATE_CHECKPOINT_H_

#include <cstddef>
#include <cstdint>

#include "base/block_id.h"
#include "kernels/byte_copy.h"
#include "kernels/host_device.h"
#include "kernels/launch.h"
#include "kernels/paged_layers.h"
#include "kernels/row_encoding.h"

namespace kvsim {

enum class StateEncoding : uint8_t { kFloat32, kBfloat16, kInt8 };

struct StateFormat {
  int32_t heads = 0;
  int32_t key_dim = 0;
  int32_t value_dim = 0;
  int64_t conv_bytes = 0;
  StateEncoding encoding = StateEncoding::kFloat32;

  KVSIM_HOST_DEVICE int64_t HeadElements() const {
    return int64_t{key_dim} * value_dim;
  }
  KVSIM_HOST_DEVICE int64_t HeadBytes() const {
    const int64_t element = encoding == StateEncoding::kFloat32    ? 4
                            : encoding == StateEncoding::kBfloat16 ? 2
                                                                   : 1;
    return HeadElements() * element;
  }
  KVSIM_HOST_DEVICE int64_t ScaleBytes() const {
    return encoding == StateEncoding::kInt8 ? int64_t{4} * heads : 0;
  }
  KVSIM_HOST_DEVICE int64_t HeadOffset(int64_t head) const {
    return ScaleBytes() + head * HeadBytes();
  }
  KVSIM_HOST_DEVICE int64_t ConvOffset() const { return HeadOffset(heads); }
  KVSIM_HOST_DEVICE int64_t PageBytes() const {
    return ConvOffset() + conv_bytes;
  }
};

struct StatePair {
  uint32_t slot = 0;  // of the running state
  BlockId block = kNullBlock;
};

struct StateCheckpointArgs {
  StateFormat format;
  PagedLayers pages;
  float* const* states = nullptr;
  int64_t state_stride = 0;
  std::byte* const* convolutions = nullptr;
  int64_t conv_stride = 0;
  int64_t num_slots = 0;
  const StatePair* pairs = nullptr;
  int64_t num_pairs = 0;

  KVSIM_HOST_DEVICE float* Head(int32_t layer, int64_t pair,
                                int64_t head) const {
    return states[layer] + pairs[pair].slot * state_stride +
           head * format.HeadElements();
  }
  KVSIM_HOST_DEVICE std::byte* Page(int32_t layer, int64_t pair) const {
    return pages.Page(layer, pairs[pair].block);
  }
  KVSIM_HOST_DEVICE std::byte* Convolutions(int32_t layer, int64_t pair) const {
    return convolutions[layer] + pairs[pair].slot * conv_stride;
  }
};

// --- how heads are encoded -----------------------------------------------------

KVSIM_HOST_DEVICE inline float StateScale(float largest_magnitude) {
  return GroupScale({.largest_code = kLargestInt8, .least_scale = 0x1p-126f},
                    largest_magnitude);
}

struct Bfloat16Code {
  using Type = uint16_t;
  KVSIM_HOST_DEVICE Type Encode(float value) const { return EncodeBf16(value); }
  KVSIM_HOST_DEVICE float Decode(Type code) const { return DecodeBf16(code); }
};

struct ScaledInt8Code {
  using Type = uint8_t;
  float scale = 1;
  KVSIM_HOST_DEVICE Type Encode(float value) const {
    return EncodeInt8(value / scale);
  }
  KVSIM_HOST_DEVICE float Decode(Type code) const {
    return DecodeInt8(code) * scale;
  }
};

// What all four check.
LaunchStatus CheckStateCheckpoint(const StateCheckpointArgs& args);

// The host twins also check slots and blocks.
LaunchStatus SaveStateOnHost(const StateCheckpointArgs& args);
LaunchStatus RestoreStateOnHost(const StateCheckpointArgs& args);
LaunchStatus LaunchSaveState(const StateCheckpointArgs& args,
                             DeviceStream stream);
LaunchStatus LaunchRestoreState(const StateCheckpointArgs& args,
                                DeviceStream stream);

}  // namespace kvsim

#endif  // KVSIM_KERNELS_STATE_CHECKPOINT_H_
