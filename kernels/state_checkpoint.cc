#include "kernels/state_checkpoint.h"

#include <cstring>

namespace kvsim {
namespace {

enum class Way { kSave, kRestore };

template <typename Code>
void MoveEncoded(Way way, const Code& code, float* values, int64_t count,
                 std::byte* page) {
  auto* codes = reinterpret_cast<typename Code::Type*>(page);
  for (int64_t i = 0; i < count; ++i) {
    if (way == Way::kSave) {
      codes[i] = code.Encode(values[i]);
    } else {
      values[i] = code.Decode(codes[i]);
    }
  }
}

void MoveBytes(Way way, void* running, std::byte* page, int64_t bytes) {
  if (bytes == 0) return;
  if (way == Way::kSave) {
    std::memcpy(page, running, static_cast<size_t>(bytes));
  } else {
    std::memcpy(running, page, static_cast<size_t>(bytes));
  }
}

void MoveInt8(Way way, float* values, int64_t count, float* scale,
              std::byte* page) {
  if (way == Way::kSave) {
    float largest = 0;
    for (int64_t i = 0; i < count; ++i) {
      largest = LargerMagnitude(largest, values[i]);
    }
    *scale = StateScale(largest);
  }
  MoveEncoded(way, ScaledInt8Code{*scale}, values, count, page);
}

void MoveHead(Way way, const StateFormat& format, int64_t head, float* values,
              std::byte* page) {
  std::byte* encoded = page + format.HeadOffset(head);
  switch (format.encoding) {
    case StateEncoding::kFloat32:
      return MoveBytes(way, values, encoded, format.HeadBytes());
    case StateEncoding::kBfloat16:
      return MoveEncoded(way, Bfloat16Code(), values, format.HeadElements(),
                         encoded);
    case StateEncoding::kInt8:
      return MoveInt8(way, values, format.HeadElements(),
                      reinterpret_cast<float*>(page) + head, encoded);
  }
}

LaunchStatus Move(Way way, const StateCheckpointArgs& args) {
  const LaunchStatus status = CheckStateCheckpoint(args);
  if (!status.ok()) return status;
  for (int64_t i = 0; i < args.num_pairs; ++i) {
    if (args.pairs[i].slot >= args.num_slots) {
      return LaunchStatus::BadArgument("a slot is outside num_slots");
    }
    if (int64_t{args.pairs[i].block} >= args.pages.num_blocks) {
      return LaunchStatus::BadArgument("a block is outside its pool");
    }
  }
  for (int32_t layer = 0; layer < args.pages.num_layers; ++layer) {
    for (int64_t i = 0; i < args.num_pairs; ++i) {
      std::byte* page = args.Page(layer, i);
      for (int64_t head = 0; head < args.format.heads; ++head) {
        MoveHead(way, args.format, head, args.Head(layer, i, head), page);
      }
      if (args.format.conv_bytes == 0) continue;
      MoveBytes(way, args.Convolutions(layer, i),
                page + args.format.ConvOffset(), args.format.conv_bytes);
    }
  }
  return LaunchStatus::Ok();
}

}  // namespace

LaunchStatus CheckStateCheckpoint(const StateCheckpointArgs& args) {
  const StateFormat& format = args.format;
  if (format.heads < 1 || format.key_dim < 1 || format.value_dim < 1 ||
      format.conv_bytes < 0) {
    return LaunchStatus::BadArgument("format has no heads, keys or values");
  }
  if (args.pages.num_layers < 0 || args.pages.num_blocks < 0 ||
      args.num_slots < 0 || args.num_pairs < 0) {
    return LaunchStatus::BadArgument("a count is negative");
  }
  if (args.pages.block_stride < format.PageBytes() ||
      args.pages.block_stride % 4 != 0) {
    return LaunchStatus::BadArgument(
        "pages.block_stride must hold format.PageBytes() and be a multiple "
        "of 4");
  }
  if (args.state_stride < format.heads * format.HeadElements()) {
    return LaunchStatus::BadArgument("state_stride is less than a state");
  }
  if (args.conv_stride < format.conv_bytes) {
    return LaunchStatus::BadArgument("conv_stride is less than conv_bytes");
  }
  return LaunchStatus::Ok();
}

LaunchStatus SaveStateOnHost(const StateCheckpointArgs& args) {
  return Move(Way::kSave, args);
}

LaunchStatus RestoreStateOnHost(const StateCheckpointArgs& args) {
  return Move(Way::kRestore, args);
}

}  // namespace kvsim
