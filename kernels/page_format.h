// How a page of one layer holds its rows, as data.
//
// Model:      a page holds block_tokens rows, a row what one token stores. A format
//             is one or two parts; each takes its own source rows: K and V, or the
//             latent and the rope key. A part is `groups` equal groups of elements
//             (heads, or tiles of a latent) that lie `group_stride` apart in a row;
//             rows lie `row_stride` apart from `offset` on. Groups that have a scale
//             in the page keep it at strides of its own: beside the elements, behind
//             the row's elements, or behind all rows of the page.
//               dense           K rows, then V rows: [2][block_tokens][heads][dim]
//               per token head  the same, each head's codes followed by its scale
//               latent          [block_tokens][latent | rope key]
//               fp8_ds_mla 656  [block_tokens][512 codes | 4 scales | 64 bf16]
//               index key 132   [block_tokens][128 codes], [block_tokens][scale]
//               fp8_ds_mla 584  [block_tokens][448 codes | 64 bf16],
//                               [block_tokens][7 ue8m0 | 1 unused byte]
//               raw             [block_tokens][row of any bytes]
// Units:      bytes; elements of a source are bf16, of a raw one bytes. row_bytes is
//             what a row takes, its scales and unused bytes included.
// Errors:     makers take positive sizes; WriteTokens checks what it is given.
// Source:     vLLM (2026-08-17): v1/attention/backends/{flash_attn,triton_attn}.py,
//             model_executor/layers/attention/mla_attention.py,
//             models/deepseek_v4/attention.py, csrc/cache_kernels.cu; SGLang's
//             DSATokenToKVPool for the index key. The sizes are tested against
//             those the engines' specs give.
#ifndef KVSIM_KERNELS_PAGE_FORMAT_H_
#define KVSIM_KERNELS_PAGE_FORMAT_H_

#include <cfloat>
#include <cstdint>

#include "kernels/host_device.h"
#include "kernels/row_encoding.h"

namespace kvsim {

enum class ElementCode : uint8_t { kRaw, kBf16, kFp8, kInt8 };

enum class ScalePlace : uint8_t {
  kNone,   // elements stand for themselves
  kLayer,  // one for all rows of a layer, not in the page
  kFloat,  // each group's in the page, four bytes
  kUe8m0,  // each group's in the page, one byte
};

struct PagePart {
  ElementCode code = ElementCode::kRaw;
  ScalePlace scale_place = ScalePlace::kNone;
  ScaleRule scale_rule;  // of scales in the page
  int32_t groups = 1;    // of a row
  int32_t group_elements = 0;
  int64_t offset = 0;  // of row 0's first element in the page
  int64_t row_stride = 0;
  int64_t group_stride = 0;
  int64_t scale_offset = 0;  // of row 0's first scale in the page
  int64_t scale_row_stride = 0;
  int64_t scale_group_stride = 0;

  // Whether rows are stored as they come.
  KVSIM_HOST_DEVICE bool IsCopy() const {
    return code == ElementCode::kRaw || code == ElementCode::kBf16;
  }
  KVSIM_HOST_DEVICE bool HasScalesInPage() const {
    return scale_place == ScalePlace::kFloat ||
           scale_place == ScalePlace::kUe8m0;
  }
  KVSIM_HOST_DEVICE int64_t SourceGroupBytes() const {
    return int64_t{group_elements} * (code == ElementCode::kRaw ? 1 : 2);
  }
  KVSIM_HOST_DEVICE int64_t SourceRowBytes() const {
    return groups * SourceGroupBytes();
  }
  KVSIM_HOST_DEVICE int64_t StoredGroupBytes() const {
    return int64_t{group_elements} * (code == ElementCode::kBf16 ? 2 : 1);
  }
  KVSIM_HOST_DEVICE int64_t ScaleBytes() const {
    return scale_place == ScalePlace::kFloat   ? 4
           : scale_place == ScalePlace::kUe8m0 ? 1
                                               : 0;
  }

  // Where a row's group begins in its page, and where its scale is.
  KVSIM_HOST_DEVICE int64_t ElementOffset(int64_t row, int64_t group) const {
    return offset + row * row_stride + group * group_stride;
  }
  KVSIM_HOST_DEVICE int64_t ScaleOffset(int64_t row, int64_t group) const {
    return scale_offset + row * scale_row_stride + group * scale_group_stride;
  }
};

inline constexpr int kMaxPageParts = 2;

struct PageFormat {
  PagePart parts[kMaxPageParts];
  int32_t num_parts = 0;
  int32_t block_tokens = 0;
  int64_t row_bytes = 0;

  int64_t PageBytes() const { return row_bytes * block_tokens; }
  // Of a page that begins on a multiple of `alignment`, as the one before it.
  int64_t PaddedPageBytes(int64_t alignment) const {
    return (PageBytes() + alignment - 1) / alignment * alignment;
  }
};

// Bytes as they are.
inline PageFormat RawPages(int32_t row_bytes, int32_t block_tokens) {
  PagePart part;
  part.group_elements = row_bytes;
  part.row_stride = part.group_stride = row_bytes;
  return {{part}, 1, block_tokens, row_bytes};
}

// K rows and V rows of `part`, whose strides are set.
inline PageFormat KeysThenValues(const PagePart& part, int32_t block_tokens) {
  PagePart values = part;
  values.offset += part.row_stride * block_tokens;
  values.scale_offset += part.row_stride * block_tokens;
  return {{part, values}, 2, block_tokens, 2 * part.row_stride};
}

inline PageFormat DenseBf16Pages(int32_t heads, int32_t dim,
                                 int32_t block_tokens) {
  PagePart part;
  part.code = ElementCode::kBf16;
  part.groups = heads;
  part.group_elements = dim;
  part.group_stride = int64_t{2} * dim;
  part.row_stride = heads * part.group_stride;
  return KeysThenValues(part, block_tokens);
}

// fp8, a layer's K and V with a scale each.
inline PageFormat DenseFp8Pages(int32_t heads, int32_t dim,
                                int32_t block_tokens) {
  PagePart part;
  part.code = ElementCode::kFp8;
  part.scale_place = ScalePlace::kLayer;
  part.groups = heads;
  part.group_elements = dim;
  part.group_stride = dim;
  part.row_stride = heads * part.group_stride;
  return KeysThenValues(part, block_tokens);
}

// `code` is kFp8 or kInt8.
inline PageFormat PerTokenHeadPages(ElementCode code, int32_t heads,
                                    int32_t dim, int32_t block_tokens) {
  PagePart part;
  part.code = code;
  part.scale_place = ScalePlace::kFloat;
  part.scale_rule = {
      .largest_code = code == ElementCode::kInt8 ? kLargestInt8 : kLargestFp8,
      .least_scale = 1e-6f};
  part.groups = heads;
  part.group_elements = dim;
  part.group_stride = part.scale_group_stride = int64_t{dim} + 4;
  part.row_stride = part.scale_row_stride = heads * part.group_stride;
  part.scale_offset = dim;
  return KeysThenValues(part, block_tokens);
}

// `elements` of one group, `offset` bytes into rows of `row_stride`.
inline PagePart RowSpan(ElementCode code, int32_t elements, int64_t offset,
                        int64_t row_stride) {
  PagePart part;
  part.code = code;
  part.group_elements = elements;
  part.offset = offset;
  part.row_stride = row_stride;
  part.group_stride = part.StoredGroupBytes();
  if (code == ElementCode::kFp8) part.scale_place = ScalePlace::kLayer;
  return part;
}

inline PageFormat LatentBf16Pages(int32_t latent, int32_t rope,
                                  int32_t block_tokens) {
  const int64_t row_bytes = (int64_t{latent} + rope) * 2;
  return {{RowSpan(ElementCode::kBf16, latent, 0, row_bytes),
           RowSpan(ElementCode::kBf16, rope, int64_t{2} * latent, row_bytes)},
          2,
          block_tokens,
          row_bytes};
}

// fp8 with a scale per layer.
inline PageFormat LatentFp8Pages(int32_t latent, int32_t rope,
                                 int32_t block_tokens) {
  const int64_t row_bytes = int64_t{latent} + rope;
  return {{RowSpan(ElementCode::kFp8, latent, 0, row_bytes),
           RowSpan(ElementCode::kFp8, rope, latent, row_bytes)},
          2,
          block_tokens,
          row_bytes};
}

// fp8_ds_mla, 656 bytes: 512 fp8 in tiles of 128, their scales, 64 bf16.
inline PageFormat Fp8DsMla656Pages(int32_t block_tokens) {
  constexpr int64_t kRowBytes = 512 + 4 * 4 + 64 * 2;
  PagePart latent;
  latent.code = ElementCode::kFp8;
  latent.scale_place = ScalePlace::kFloat;
  latent.scale_rule.least_scale = FLT_MIN;
  latent.groups = 4;
  latent.group_elements = 128;
  latent.group_stride = 128;
  latent.row_stride = latent.scale_row_stride = kRowBytes;
  latent.scale_offset = 512;
  latent.scale_group_stride = 4;
  return {{latent, RowSpan(ElementCode::kBf16, 64, 528, kRowBytes)},
          2,
          block_tokens,
          kRowBytes};
}

// fp8_ds_mla, 584 bytes: 448 fp8 in tiles of 64 and 64 bf16 per row; behind all
// rows 8 bytes for each, 7 of them scales.
inline PageFormat Fp8DsMla584Pages(int32_t block_tokens) {
  constexpr int64_t kDataBytes = 448 + 64 * 2;
  PagePart latent;
  latent.code = ElementCode::kFp8;
  latent.scale_place = ScalePlace::kUe8m0;
  latent.scale_rule = {.least_magnitude = 1e-4f, .power_of_two = true};
  latent.groups = 7;
  latent.group_elements = 64;
  latent.group_stride = 64;
  latent.row_stride = kDataBytes;
  latent.scale_offset = kDataBytes * block_tokens;
  latent.scale_row_stride = 8;
  latent.scale_group_stride = 1;
  return {{latent, RowSpan(ElementCode::kBf16, 64, 448, kDataBytes)},
          2,
          block_tokens,
          kDataBytes + 8};
}

// The key of a sparse-attention indexer, `dim` fp8 with one scale, which some
// checkpoints round up to a power of two.
inline PageFormat IndexKeyPages(int32_t dim, int32_t block_tokens,
                                bool power_of_two_scales = false) {
  PagePart key;
  key.code = ElementCode::kFp8;
  key.scale_place = ScalePlace::kFloat;
  key.scale_rule = {.least_magnitude = 1e-4f,
                    .power_of_two = power_of_two_scales};
  key.group_elements = dim;
  key.row_stride = key.group_stride = dim;
  key.scale_offset = int64_t{dim} * block_tokens;
  key.scale_row_stride = key.scale_group_stride = 4;
  return {{key}, 1, block_tokens, int64_t{dim} + 4};
}

}  // namespace kvsim

#endif  // KVSIM_KERNELS_PAGE_FORMAT_H_
