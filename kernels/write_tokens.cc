#include "kernels/write_tokens.h"

#include <cstdint>
#include <cstring>

namespace kvsim {
namespace {

const char* WhatIsWrongWith(const PagePart& part) {
  if (part.groups < 1 || part.group_elements < 1) {
    return "a part of format has no elements";
  }
  if (part.SourceRowBytes() > INT32_MAX) {
    return "a part of format has rows of 2^31 bytes or more";
  }
  if (part.IsCopy() != (part.scale_place == ScalePlace::kNone)) {
    return "fp8 and int8 parts of format have scales, and no others";
  }
  if (part.IsCopy() && part.groups > 1 &&
      part.group_stride != part.StoredGroupBytes()) {
    return "bf16 and raw parts of format have no gaps inside a row";
  }
  return nullptr;
}

// Whether every row of the part, and its scales, lie in [0, bytes).
bool LiesWithin(const PagePart& part, int32_t block_tokens, int64_t bytes) {
  if (part.offset < 0 || part.row_stride < 0 || part.group_stride < 0 ||
      part.scale_offset < 0 || part.scale_row_stride < 0 ||
      part.scale_group_stride < 0) {
    return false;
  }
  const int64_t row = block_tokens - 1;
  const int64_t group = part.groups - 1;
  return part.ElementOffset(row, group) + part.StoredGroupBytes() <= bytes &&
         (!part.HasScalesInPage() ||
          part.ScaleOffset(row, group) + part.ScaleBytes() <= bytes);
}

const char* WhatIsWrongWith(const RowSource& source, const PagePart& part) {
  if (source.layers == nullptr) return "sources[].layers is null";
  if (source.token_stride < part.SourceRowBytes()) {
    return "sources[].token_stride is less than a row";
  }
  if (!part.IsCopy() && source.token_stride % 2 != 0) {
    return "sources[].token_stride of fp8 and int8 parts must be even";
  }
  if (part.scale_place == ScalePlace::kLayer && source.scales == nullptr) {
    return "sources[].scales is null";
  }
  return nullptr;
}

void StoreScale(ScalePlace place, float scale, std::byte* to) {
  if (place == ScalePlace::kUe8m0) {
    *to = std::byte{EncodeUe8m0(scale)};
  } else {
    std::memcpy(to, &scale, sizeof(scale));
  }
}

float ElementAt(const std::byte* group, int32_t index) {
  uint16_t code;
  std::memcpy(&code, group + int64_t{2} * index, sizeof(code));
  return DecodeBf16(code);
}

float ScaleOf(const PagePart& part, const std::byte* group) {
  float magnitude = 0;
  for (int32_t i = 0; i < part.group_elements; ++i) {
    magnitude = LargerMagnitude(magnitude, ElementAt(group, i));
  }
  return GroupScale(part.scale_rule, magnitude);
}

void EncodeGroup(const PagePart& part, const std::byte* from, float scale,
                 std::byte* to) {
  for (int32_t i = 0; i < part.group_elements; ++i) {
    to[i] = std::byte{EncodeElement(part.code, ElementAt(from, i) / scale)};
  }
}

// One row of a quantised part into row `row` of `page`.
void EncodeRow(const PagePart& part, const std::byte* from, float layer_scale,
               std::byte* page, int64_t row) {
  for (int32_t group = 0; group < part.groups; ++group) {
    float scale = layer_scale;
    if (part.HasScalesInPage()) {
      scale = ScaleOf(part, from);
      StoreScale(part.scale_place, scale, page + part.ScaleOffset(row, group));
    }
    EncodeGroup(part, from, scale, page + part.ElementOffset(row, group));
    from += part.SourceGroupBytes();
  }
}

void WritePart(const WriteTokensArgs& args, const PagePart& part,
               const RowSource& source, int32_t layer) {
  const auto bytes = static_cast<size_t>(part.SourceRowBytes());
  const float layer_scale =
      part.scale_place == ScalePlace::kLayer ? source.scales[layer] : 0;
  for (int64_t token = 0; token < args.num_tokens; ++token) {
    if (args.slots[token] < 0) continue;
    const PageRow at = RowOfSlot(args.slots[token], args.pages.block_tokens);
    const std::byte* from = source.Row(layer, token);
    std::byte* page = args.pages.Page(layer, at.page);
    if (part.IsCopy()) {
      std::memcpy(page + part.ElementOffset(at.row, 0), from, bytes);
    } else {
      EncodeRow(part, from, layer_scale, page, at.row);
    }
  }
}

}  // namespace

LaunchStatus CheckWriteTokens(const WriteTokensArgs& args) {
  const PageFormat& format = args.format;
  if (args.num_tokens < 0) {
    return LaunchStatus::BadArgument("num_tokens is negative");
  }
  if (args.pages.num_layers < 0) {
    return LaunchStatus::BadArgument("pages.num_layers is negative");
  }
  if (args.pages.block_tokens < 1) {
    return LaunchStatus::BadArgument("pages.block_tokens must be positive");
  }
  if (format.block_tokens != args.pages.block_tokens) {
    return LaunchStatus::BadArgument(
        "format.block_tokens differs from pages.block_tokens");
  }
  if (format.num_parts < 1 || format.num_parts > kMaxPageParts) {
    return LaunchStatus::BadArgument("format.num_parts must be 1 or 2");
  }
  for (int p = 0; p < format.num_parts; ++p) {
    const PagePart& part = format.parts[p];
    const char* wrong = WhatIsWrongWith(part);
    if (wrong == nullptr &&
        !LiesWithin(part, format.block_tokens, args.pages.block_stride)) {
      wrong = "pages.block_stride is less than the format's page";
    }
    if (wrong == nullptr && args.num_tokens > 0) {
      wrong = WhatIsWrongWith(args.sources[p], part);
    }
    if (wrong != nullptr) return LaunchStatus::BadArgument(wrong);
  }
  if (args.num_tokens > 0 && args.slots == nullptr) {
    return LaunchStatus::BadArgument("slots is null");
  }
  return LaunchStatus::Ok();
}

LaunchStatus WriteTokensOnHost(const WriteTokensArgs& args) {
  const LaunchStatus status = CheckWriteTokens(args);
  if (!status.ok() || args.num_tokens == 0) return status;
  for (int32_t layer = 0; layer < args.pages.num_layers; ++layer) {
    for (int p = 0; p < args.format.num_parts; ++p) {
      WritePart(args, args.format.parts[p], args.sources[p], layer);
    }
  }
  return LaunchStatus::Ok();
}

}  // namespace kvsim
