#include "models/tensor_lists.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/units.h"

namespace kvsim {
namespace {

constexpr int64_t kScalePerHead = sizeof(float);

// Elements that share one fp32 scale in DeepSeek's fp8 rows and index keys.
constexpr int64_t kFp8Tile = 128;
// Elements that share one scale byte: V4's fp8 part, MXFP4, NVFP4.
constexpr int64_t kV4Tile = 64;
constexpr int64_t kMxfp4Group = 32;
constexpr int64_t kNvfp4Group = 16;

absl::Status FormatRefused(const RowFormats& formats, absl::string_view what,
                           absl::string_view accepted) {
  return absl::InvalidArgumentError(
      absl::StrCat("--kv-cache-dtype ", Name(formats.cache),
                   " does not exist for ", what, "; accepted: ", accepted));
}

// One number format for a whole row, where the format has just one.
std::optional<DType> PlainDType(KvCacheDtype format) {
  switch (format) {
    case KvCacheDtype::kBf16:
      return DType::kBf16;
    case KvCacheDtype::kFp16:
      return DType::kFp16;
    case KvCacheDtype::kFp32:
      return DType::kFp32;
    case KvCacheDtype::kFp8:
      return DType::kFp8;
    case KvCacheDtype::kInt8:
      return DType::kInt8;
    default:
      return std::nullopt;
  }
}

// Stores rows of `width` elements in llama.cpp's blocks. False: the format has
// none. An error: blocks do not fill the rows.
absl::StatusOr<bool> UseBlocks(int64_t width, const RowFormats& formats,
                               CacheTensor& tensor) {
  const std::optional<BlockFormat> block = BlockFormatOf(formats.cache);
  if (!block) return false;
  if (width % kBlockElements != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--kv-cache-dtype ", Name(formats.cache), " stores blocks of ",
        kBlockElements, ", but ", tensor.name, " rows are ", width,
        " wide; accepted: widths that 32 divides"));
  }
  tensor.dtype = block->element;
  tensor.scale_bytes = tensor.elements / kBlockElements * block->extra_bytes;
  return true;
}

Retention RetentionOf(const AttentionSpec& attention) {
  Retention retention;
  switch (attention.kind) {
    case AttentionKind::kSlidingWindow:
      retention.kind = RetentionKind::kLastWindow;
      retention.window = attention.window;
      retention.sinks = attention.sink_tokens;
      break;
    case AttentionKind::kChunkedLocal:
      retention.kind = RetentionKind::kCurrentChunk;
      retention.chunk = attention.chunk;
      break;
    case AttentionKind::kPromptWindow:
      retention.kind = RetentionKind::kPromptAndLastWindow;
      retention.window = attention.window;
      break;
    default:
      break;
  }
  return retention;
}

Retention WindowOf(int64_t window) {
  Retention retention;
  retention.kind = RetentionKind::kLastWindow;
  retention.window = window;
  return retention;
}

CacheTensor ReplicatedTensor(std::string name, CacheStore store,
                             int64_t elements, DType dtype) {
  CacheTensor tensor;
  tensor.name = std::move(name);
  tensor.store = store;
  tensor.elements = elements;
  tensor.dtype = dtype;
  tensor.shard = ShardAxis::kReplicated;
  return tensor;
}

// K or V of one token: `heads` rows of `width`.
absl::StatusOr<CacheTensor> HeadsTensor(std::string name, int64_t heads,
                                        int64_t width,
                                        const RowFormats& formats) {
  CacheTensor tensor;
  tensor.name = std::move(name);
  tensor.elements = heads * width;
  tensor.heads = heads;
  switch (formats.cache) {
    case KvCacheDtype::kInt8PerTokenHead:
      tensor.dtype = DType::kInt8;
      tensor.scale_bytes = heads * kScalePerHead;
      return tensor;
    case KvCacheDtype::kFp8PerTokenHead:
      tensor.dtype = DType::kFp8;
      tensor.scale_bytes = heads * kScalePerHead;
      return tensor;
    case KvCacheDtype::kInt4PerTokenHead:
      tensor.dtype = DType::kInt4;
      tensor.scale_bytes = heads * kScalePerHead;
      return tensor;
    case KvCacheDtype::kNvfp4:
      tensor.dtype = DType::kNvfp4;
      tensor.scale_bytes = heads * CeilDiv(width, kNvfp4Group);
      return tensor;
    case KvCacheDtype::kInt4:
      tensor.dtype = DType::kInt4;
      return tensor;
    default:
      break;
  }
  const absl::StatusOr<bool> blocks = UseBlocks(width, formats, tensor);
  if (!blocks.ok()) return blocks.status();
  if (*blocks) return tensor;
  const std::optional<DType> plain = PlainDType(formats.cache);
  if (!plain) {
    return FormatRefused(formats, "per-head K and V",
                         "auto, bf16, fp16, fp32, fp8, int8, int4, nvfp4, "
                         "{int8,fp8,int4}_per_token_head, q8_0, q5_1, q5_0, "
                         "q4_1, q4_0, iq4_nl");
  }
  tensor.dtype = *plain;
  return tensor;
}

// One index key and its scales. `tokens_per_entry` is V4's compress ratio, or
// the tokens that share one key.
void AppendIndexKeys(const IndexerSpec& indexer, int64_t tokens_per_entry,
                     const RowFormats& formats, TensorList& tensors) {
  const int64_t heads = formats.index_key_heads;
  DType dtype = formats.index_key;
  if (indexer.format == IndexKeyFormat::kCacheDtype &&
      !formats.index_key_chosen) {
    dtype = PlainDType(formats.cache).value_or(DType::kBf16);
  }
  CacheTensor key = ReplicatedTensor("index_key", CacheStore::kIndex,
                                     heads * indexer.head_dim, dtype);
  key.tokens_per_entry = tokens_per_entry;
  tensors.push_back(key);

  if (formats.payload_only || indexer.format == IndexKeyFormat::kCacheDtype) {
    return;
  }
  CacheTensor scale =
      ReplicatedTensor("index_scale", CacheStore::kIndex, 0, DType::kUint8);
  scale.tokens_per_entry = tokens_per_entry;
  if (dtype == DType::kFp8) {
    scale.dtype = DType::kFp32;
    scale.elements = heads * CeilDiv(indexer.head_dim, kFp8Tile);
  } else if (dtype == DType::kFp4) {
    scale.elements = heads * CeilDiv(indexer.head_dim, kMxfp4Group);
  } else {
    return;
  }
  tensors.push_back(scale);
}

bool KeepsIndexKeys(const IndexerSpec& indexer, const RowFormats& formats) {
  return indexer.kind == IndexerKind::kFull ||
         (indexer.kind == IndexerKind::kShared &&
          formats.index_keys_on_shared_layers);
}

// Inkling's convolution inputs: a row per token, kept for the kernel's length.
CacheTensor ShortConvTensor(const AttentionSpec& attention,
                            const RowFormats& formats) {
  CacheTensor tensor;
  tensor.name = "conv_state";
  tensor.store = CacheStore::kShortConv;
  tensor.elements = attention.kv_heads * attention.short_conv_width;
  tensor.heads = attention.kv_heads;
  tensor.dtype = formats.conv_state;
  tensor.retention = WindowOf(attention.short_conv_kernel);
  return tensor;
}

absl::StatusOr<TensorList> DenseTensors(const AttentionSpec& attention,
                                        const RowFormats& formats) {
  absl::StatusOr<CacheTensor> k =
      HeadsTensor("k", attention.kv_heads, attention.head_dim, formats);
  if (!k.ok()) return k.status();
  absl::StatusOr<CacheTensor> v =
      HeadsTensor("v", attention.kv_heads, attention.head_dim_v, formats);
  if (!v.ok()) return v.status();
  k->retention = v->retention = RetentionOf(attention);
  TensorList tensors = {*std::move(k), *std::move(v)};
  if (attention.short_conv_kernel > 0 && !formats.payload_only) {
    tensors.push_back(ShortConvTensor(attention, formats));
  }
  if (KeepsIndexKeys(attention.indexer, formats)) {
    AppendIndexKeys(attention.indexer, attention.indexer.tokens_per_key,
                    formats, tensors);
  }
  return tensors;
}

absl::StatusOr<TensorList> MlaTensors(const AttentionSpec& attention,
                                      const RowFormats& formats) {
  CacheTensor latent = ReplicatedTensor("latent", CacheStore::kMain,
                                        attention.kv_lora_rank, DType::kBf16);
  CacheTensor rope = ReplicatedTensor("rope_key", CacheStore::kMain,
                                      attention.qk_rope_head_dim, DType::kBf16);
  constexpr int64_t kScales = 2 * sizeof(float);  // one for each part
  if (const std::optional<DType> plain = PlainDType(formats.cache)) {
    latent.dtype = rope.dtype = *plain;
  } else if (formats.cache == KvCacheDtype::kFp8DsMla) {
    latent.dtype = DType::kFp8;
    latent.scale_bytes =
        CeilDiv(attention.kv_lora_rank, kFp8Tile) * sizeof(float);
  } else if (formats.cache == KvCacheDtype::kFp8PerTokenHead ||
             formats.cache == KvCacheDtype::kInt8PerTokenHead) {
    latent.dtype = rope.dtype = formats.cache == KvCacheDtype::kFp8PerTokenHead
                                    ? DType::kFp8
                                    : DType::kInt8;
    latent.scale_bytes = kScales;
  } else if (BlockFormatOf(formats.cache)) {
    for (CacheTensor* part : {&latent, &rope}) {
      const auto blocks = UseBlocks(part->elements, formats, *part);
      if (!blocks.ok()) return blocks.status();
    }
  } else {
    return FormatRefused(formats, "MLA latents",
                         "auto, bf16, fp16, fp32, fp8, int8, fp8_ds_mla, "
                         "{int8,fp8}_per_token_head, q8_0, q5_1, q5_0, q4_1, "
                         "q4_0, iq4_nl");
  }
  if (formats.payload_only) latent.scale_bytes = 0;
  TensorList tensors = {latent};
  const bool unrotated_part_left_out =
      formats.payload_only && attention.mla_without_rope;
  if (rope.elements > 0 && !unrotated_part_left_out) tensors.push_back(rope);
  if (KeepsIndexKeys(attention.indexer, formats)) {
    AppendIndexKeys(attention.indexer, attention.indexer.tokens_per_key,
                    formats, tensors);
  }
  return tensors;
}

// Pages of DeepSeek V4's caches begin on a multiple of `alignment`, so the
// entries of a page share what rounding up adds. `row` is the columns of one
// entry; the first column carries the padding.
void AlignPage(int64_t page_entries, int64_t alignment,
               std::span<CacheTensor> row) {
  int64_t page = 0;
  for (const CacheTensor& column : row) {
    page += page_entries * column.EntryBytes().value();
  }
  row[0].padding_bytes = CeilDiv(RoundUp(page, alignment) - page, page_entries);
}

// V4's row of shared K = V: one vector whose rope part stays bf16 under
// fp8_ds_mla, with one scale byte per 64 elements padded to 8 bytes.
absl::StatusOr<CacheTensor> V4Row(std::string name, CacheStore store,
                                  const AttentionSpec& attention,
                                  const RowFormats& formats) {
  CacheTensor row = ReplicatedTensor(std::move(name), store, attention.head_dim,
                                     DType::kBf16);
  if (formats.compressed_cache == KvCacheDtype::kFp8DsMla) {
    const int64_t fp8_part = attention.head_dim - attention.qk_rope_head_dim;
    row.dtype = DType::kUint8;
    row.elements = fp8_part + 2 * attention.qk_rope_head_dim;
    if (!formats.payload_only) {
      row.scale_bytes = RoundUp(CeilDiv(fp8_part, kV4Tile), 8);
    }
    return row;
  }
  const std::optional<DType> plain = PlainDType(formats.compressed_cache);
  if (!plain) {
    return FormatRefused(formats, "compressed rows",
                         "auto, bf16, fp16, fp32, fp8, int8, fp8_ds_mla");
  }
  row.dtype = *plain;
  return row;
}

// What the compressor keeps of unfinished groups: a value and a score in fp32
// for every element. Groups of 4 overlap their neighbour, so there are two.
CacheTensor CompressorState(std::string name, CacheStore store, int64_t ratio,
                            int64_t width) {
  const int64_t groups = ratio == 4 ? 2 : 1;
  CacheTensor state = ReplicatedTensor(std::move(name), store,
                                       groups * 2 * width, DType::kFp32);
  state.retention = WindowOf(groups * ratio);
  return state;
}

// Tokens per page of the manager's MLA group and of V4's window caches; 4 or
// 8 entries per page of compressor state.
constexpr int64_t kV4BlockTokens = 256;
constexpr int64_t kV4WindowBlockTokens = 64;

absl::StatusOr<TensorList> CompressedTensors(const AttentionSpec& attention,
                                             const RowFormats& formats) {
  const int64_t ratio = attention.compress_ratio;
  // FlashMLA's packed rows step by 576 bytes, other backends' pages by 512.
  const int64_t alignment =
      formats.compressed_cache == KvCacheDtype::kFp8DsMla ? 576 : 512;
  TensorList tensors;
  // Aligns the columns from `first` on, which are one row.
  const auto align = [&](size_t first, int64_t page_entries) {
    if (formats.payload_only) return;
    AlignPage(page_entries, alignment, std::span(tensors).subspan(first));
  };

  absl::StatusOr<CacheTensor> window =
      V4Row("swa_entry", CacheStore::kWindow, attention, formats);
  if (!window.ok()) return window.status();
  window->retention = WindowOf(attention.window);
  tensors.push_back(*std::move(window));
  align(0, kV4WindowBlockTokens);
  if (ratio <= 1) return tensors;

  const bool indexed = attention.indexer.kind != IndexerKind::kNone;
  const int64_t page_entries = std::max<int64_t>(kV4BlockTokens / ratio, 1);
  absl::StatusOr<CacheTensor> row =
      V4Row(indexed ? "csa_entry" : "hca_entry", CacheStore::kMain, attention,
            formats);
  if (!row.ok()) return row.status();
  row->tokens_per_entry = ratio;
  tensors.push_back(*std::move(row));
  align(1, page_entries);

  if (KeepsIndexKeys(attention.indexer, formats)) {
    const size_t first = tensors.size();
    AppendIndexKeys(attention.indexer, ratio, formats, tensors);
    align(first, page_entries);
  }
  if (formats.payload_only) return tensors;

  const int64_t state_page_entries = ratio == 4 ? 4 : 8;
  tensors.push_back(CompressorState("compressor_state",
                                    CacheStore::kCompressorState, ratio,
                                    attention.head_dim));
  align(tensors.size() - 1, state_page_entries);
  if (indexed) {
    tensors.push_back(CompressorState("index_compressor_state",
                                      CacheStore::kIndexCompressorState, ratio,
                                      attention.indexer.head_dim));
    align(tensors.size() - 1, state_page_entries);
  }
  return tensors;
}

}  // namespace

absl::StatusOr<TensorList> AttentionTensors(const AttentionSpec& attention,
                                            const RowFormats& formats) {
  if (attention.kv_sharing_target >= 0) return TensorList();
  switch (attention.kind) {
    case AttentionKind::kMla:
      return MlaTensors(attention, formats);
    case AttentionKind::kCompressed:
      return CompressedTensors(attention, formats);
    case AttentionKind::kEncoderOnly:
      return TensorList();
    default:
      return DenseTensors(attention, formats);
  }
}

TensorList RecurrentTensors(const RecurrentSpec& recurrent,
                            const RowFormats& formats) {
  TensorList tensors;
  if (!formats.recurrent_states) return tensors;
  CacheTensor tensor;
  tensor.store = CacheStore::kRecurrent;
  tensor.tokens_per_entry = kPerSequence;
  tensor.retention.kind = RetentionKind::kLatestState;
  if (recurrent.conv_kernel > 0) {
    tensor.name = "conv_state";
    tensor.elements = recurrent.conv_channels *
                      (recurrent.conv_kernel - 1 + formats.speculative_tokens);
    tensor.dtype = formats.conv_state;
    tensor.heads = recurrent.kind == RecurrentKind::kGatedDeltaNet
                       ? std::gcd(recurrent.key_heads, recurrent.value_heads)
                   : recurrent.value_heads > 0 ? recurrent.value_heads
                                               : recurrent.conv_channels;
    tensors.push_back(tensor);
  }
  if (recurrent.kind == RecurrentKind::kShortConv) return tensors;
  tensor.name = "recurrent_state";
  tensor.elements =
      recurrent.value_heads * recurrent.value_dim * recurrent.key_dim;
  tensor.dtype = recurrent.kind == RecurrentKind::kKda
                     ? formats.kda_state
                     : formats.recurrent_state;
  tensor.heads = recurrent.value_heads;
  // 8-bit integers need a scale; no engine keeps such states, so it is one a head.
  if (tensor.dtype == DType::kInt8) {
    tensor.scale_bytes = recurrent.value_heads * kScalePerHead;
  }
  tensors.push_back(tensor);
  return tensors;
}

absl::StatusOr<TensorList> CrossAttentionTensors(
    const CrossAttentionSpec& cross, const RowFormats& formats) {
  TensorList tensors;
  for (const char* name : {"cross_k", "cross_v"}) {
    absl::StatusOr<CacheTensor> tensor =
        HeadsTensor(name, cross.kv_heads, cross.head_dim, formats);
    if (!tensor.ok()) return tensor.status();
    tensor->store = CacheStore::kCross;
    tensor->source = TokenSource::kEncoder;
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

}  // namespace kvsim
