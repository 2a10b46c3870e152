#include "models/layout_builder.h"

#include <limits>
#include <string>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "models/tensor_lists.h"

namespace kvsim {
namespace {

absl::StatusOr<KvCacheDtype> FormatOf(DType dtype, absl::string_view what) {
  switch (dtype) {
    case DType::kFp32:
      return KvCacheDtype::kFp32;
    case DType::kFp16:
      return KvCacheDtype::kFp16;
    case DType::kBf16:
      return KvCacheDtype::kBf16;
    case DType::kFp8:
      return KvCacheDtype::kFp8;
    case DType::kNvfp4:
      return KvCacheDtype::kNvfp4;
    case DType::kInt8:
      return KvCacheDtype::kInt8;
    case DType::kInt4:
      return KvCacheDtype::kInt4;
    default:
      return absl::InvalidArgumentError(absl::StrCat(
          what, " ", Name(dtype),
          " is no KV cache dtype; name one with --kv-cache-dtype"));
  }
}

// The format behind "auto".
absl::StatusOr<KvCacheDtype> AutoFormat(const ModelSpec& spec,
                                        const LayoutOptions& options) {
  if (options.as_article) {
    return FormatOf(spec.article.cache_dtype, "the article's cache dtype");
  }
  if (spec.quantization.kv_cache_dtype) {
    return FormatOf(*spec.quantization.kv_cache_dtype,
                    "the checkpoint's KV cache dtype");
  }
  return FormatOf(spec.dtype, "the model's dtype");
}

bool IsIndexKeyDType(DType dtype) {
  switch (dtype) {
    case DType::kFp8:
    case DType::kFp4:
    case DType::kInt8:
    case DType::kBf16:
    case DType::kFp16:
    case DType::kFp32:
      return true;
    default:
      return false;
  }
}

absl::Status CheckOptions(const LayoutOptions& options) {
  if (options.index_key_heads && (*options.index_key_heads < 1 ||
                                  *options.index_key_heads > kMaxDimension)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--index-key-heads is ", *options.index_key_heads,
                     "; accepted: 1 to ", kMaxDimension));
  }
  if (options.index_key_dtype && !IsIndexKeyDType(*options.index_key_dtype)) {
    return absl::InvalidArgumentError(
        absl::StrCat("index key dtype is ", Name(*options.index_key_dtype),
                     "; accepted: fp8, fp4, int8, bf16, fp16, fp32"));
  }
  const auto is_state_dtype = [](DType dtype) {
    return BitsPerElement(dtype) >= 16 || dtype == DType::kFp8;
  };
  if (options.state_dtype && !is_state_dtype(*options.state_dtype) &&
      *options.state_dtype != DType::kInt8) {
    return absl::InvalidArgumentError(
        absl::StrCat("state dtype is ", Name(*options.state_dtype),
                     "; accepted: fp32, bf16, fp16, fp8, int8"));
  }
  if (options.conv_state_dtype && !is_state_dtype(*options.conv_state_dtype)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "dtype of convolution states is ", Name(*options.conv_state_dtype),
        "; accepted: fp32, bf16, fp16, fp8"));
  }
  if (options.speculative_tokens < 0 ||
      options.speculative_tokens > kMaxDimension) {
    return absl::InvalidArgumentError(
        absl::StrCat("speculative tokens are ", options.speculative_tokens,
                     "; accepted: 0 to ", kMaxDimension));
  }
  return absl::OkStatus();
}

// Engines keep V4's rows in fp8_ds_mla unless told otherwise; another format
// is used when a caller asks for it.
absl::StatusOr<RowFormats> Resolve(const ModelSpec& spec,
                                   const LayoutOptions& options) {
  RowFormats formats;
  formats.cache = formats.compressed_cache = options.kv_cache_dtype;
  if (options.kv_cache_dtype == KvCacheDtype::kAuto) {
    absl::StatusOr<KvCacheDtype> format = AutoFormat(spec, options);
    if (!format.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(spec.name, ": ", format.status().message()));
    }
    formats.cache = *format;
    formats.compressed_cache = KvCacheDtype::kFp8DsMla;
  }
  const ArticleAssumptions& article = spec.article;
  const bool as_article = options.as_article;
  formats.index_key = options.index_key_dtype.value_or(
      as_article ? article.index_key_dtype : DType::kFp8);
  formats.index_key_chosen = options.index_key_dtype.has_value();
  formats.index_key_heads = options.index_key_heads.value_or(
      as_article ? article.index_key_heads : 1);
  formats.index_keys_on_shared_layers = options.index_keys_on_shared_layers;
  formats.conv_state = options.conv_state_dtype.value_or(
      as_article ? article.state_dtype : spec.dtype);
  formats.recurrent_state = options.state_dtype.value_or(formats.conv_state);
  formats.kda_state = options.state_dtype.value_or(
      as_article ? article.state_dtype : DType::kFp32);
  formats.speculative_tokens = options.speculative_tokens;
  formats.payload_only = as_article;
  formats.recurrent_states = !as_article || article.counts_recurrent_state;
  return formats;
}

void Append(TensorList more, TensorList& tensors) {
  for (CacheTensor& tensor : more) tensors.push_back(std::move(tensor));
}

absl::StatusOr<LayerCache> BuildLayer(const LayerSpec& layer,
                                      const LayoutOptions& options,
                                      RowFormats formats) {
  LayerCache cache;
  cache.kind = DescribeLayer(layer);
  for (const AttentionSpec& attention : layer.attention) {
    absl::StatusOr<TensorList> tensors = AttentionTensors(attention, formats);
    if (!tensors.ok()) return tensors.status();
    Append(*std::move(tensors), cache.tensors);
  }
  if (layer.recurrent) {
    // A state dtype the config names wins over the model's dtype.
    if (layer.recurrent->state_dtype && !options.state_dtype &&
        !options.as_article) {
      formats.recurrent_state = *layer.recurrent->state_dtype;
    }
    Append(RecurrentTensors(*layer.recurrent, formats), cache.tensors);
  }
  if (layer.cross) {
    absl::StatusOr<TensorList> tensors =
        CrossAttentionTensors(*layer.cross, formats);
    if (!tensors.ok()) return tensors.status();
    Append(*std::move(tensors), cache.tensors);
  }
  return cache;
}

// Refuses a layout whose sum could leave int64 at the longest sequence.
absl::Status CheckSums(const ModelSpec& spec, const CacheLayout& layout) {
  absl::int128 sum = 0;
  for (const LayerCache& layer : layout.layers) {
    for (const CacheTensor& tensor : layer.tensors) {
      const int64_t entries = tensor.tokens_per_entry == kPerSequence
                                  ? 1
                                  : kMaxLayoutTokens.value();
      sum += absl::int128(tensor.PaddedEntryBytes().value()) * entries;
    }
  }
  if (sum <= std::numeric_limits<int64_t>::max()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      spec.name, ": a sequence of ", kMaxLayoutTokens.value(),
      " tokens would take more than 2^63 bytes; accepted: layers whose entries "
      "together stay below 2 GiB per token"));
}

}  // namespace

absl::StatusOr<CacheLayout> BuildCacheLayout(const ModelSpec& spec,
                                             const LayoutOptions& options) {
  absl::Status status = ValidateModelSpec(spec);
  if (status.ok()) status = CheckOptions(options);
  if (!status.ok()) return status;
  absl::StatusOr<RowFormats> formats = Resolve(spec, options);
  if (!formats.ok()) return formats.status();

  CacheLayout layout;
  layout.default_encoder_tokens = Tokens(spec.max_encoder_tokens);
  const auto append = [&](const std::vector<LayerSpec>& layers, bool is_mtp) {
    for (size_t i = 0; i < layers.size() && status.ok(); ++i) {
      absl::StatusOr<LayerCache> layer =
          BuildLayer(layers[i], options, *formats);
      if (!layer.ok()) {
        status = absl::InvalidArgumentError(absl::StrCat(
            spec.name, ": layer ", i, " (", DescribeLayer(layers[i]),
            "): ", layer.status().message()));
        return;
      }
      layer->layer = static_cast<int32_t>(i);
      layer->is_mtp = is_mtp;
      layout.layers.push_back(*std::move(layer));
    }
  };
  append(spec.layers, false);
  if (options.mtp_layers) append(spec.mtp_layers, true);
  if (status.ok()) status = CheckSums(spec, layout);
  if (!status.ok()) return status;
  return layout;
}

}  // namespace kvsim
