#include "models/model_spec.h"

#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"

namespace kvsim {
namespace {

// Collects the first broken rule of one layer.
class LayerChecker {
 public:
  explicit LayerChecker(std::string where) : where_(std::move(where)) {}

  void Count(absl::string_view field, int64_t value) {
    if (value < 0 || value > kMaxDimension) {
      Fail(field, value, absl::StrCat("0 to ", kMaxDimension));
    }
  }

  void Positive(absl::string_view field, int64_t value) {
    if (value < 1 || value > kMaxDimension) {
      Fail(field, value, absl::StrCat("1 to ", kMaxDimension));
    }
  }

  void Fail(absl::string_view field, int64_t value,
            absl::string_view accepted) {
    if (!status_.ok()) return;
    status_ = absl::InvalidArgumentError(absl::StrCat(
        where_, ": ", field, " is ", value, "; accepted: ", accepted));
  }

  const absl::Status& status() const { return status_; }

 private:
  std::string where_;
  absl::Status status_;
};

void CheckHeads(const AttentionSpec& attention, LayerChecker& checker) {
  checker.Positive("num_attention_heads", attention.query_heads);
  checker.Positive("num_key_value_heads", attention.kv_heads);
  checker.Positive("head_dim", attention.head_dim);
  checker.Positive("head_dim of V", attention.head_dim_v);
  if (attention.kv_heads > 0 &&
      attention.query_heads % attention.kv_heads != 0) {
    checker.Fail("num_key_value_heads", attention.kv_heads,
                 absl::StrCat("a divisor of the ", attention.query_heads,
                              " attention heads"));
  }
}

void CheckKind(const AttentionSpec& attention, LayerChecker& checker) {
  switch (attention.kind) {
    case AttentionKind::kFull:
    case AttentionKind::kEncoderOnly:
      return CheckHeads(attention, checker);
    case AttentionKind::kSlidingWindow:
    case AttentionKind::kPromptWindow:
      CheckHeads(attention, checker);
      checker.Positive("sliding_window", attention.window);
      return checker.Count("sink tokens", attention.sink_tokens);
    case AttentionKind::kChunkedLocal:
      CheckHeads(attention, checker);
      return checker.Positive("attention_chunk_size", attention.chunk);
    case AttentionKind::kMla:
      checker.Positive("num_attention_heads", attention.query_heads);
      checker.Positive("kv_lora_rank", attention.kv_lora_rank);
      return checker.Count("qk_rope_head_dim", attention.qk_rope_head_dim);
    case AttentionKind::kCompressed:
      checker.Positive("num_attention_heads", attention.query_heads);
      checker.Positive("head_dim", attention.head_dim);
      checker.Positive("sliding_window", attention.window);
      checker.Count("compress_ratios", attention.compress_ratio);
      if ((attention.compress_ratio & (attention.compress_ratio - 1)) != 0) {
        checker.Fail("compress_ratios", attention.compress_ratio,
                     "0 or a power of two");
      }
      if (attention.qk_rope_head_dim < 0 ||
          attention.qk_rope_head_dim > attention.head_dim) {
        checker.Fail("qk_rope_head_dim", attention.qk_rope_head_dim,
                     absl::StrCat("0 to head_dim ", attention.head_dim));
      }
      return;
  }
}

void CheckIndexer(const IndexerSpec& indexer, bool full_indexer_before,
                  LayerChecker& checker) {
  if (indexer.kind == IndexerKind::kNone) return;
  checker.Positive("index_head_dim", indexer.head_dim);
  checker.Count("index_n_heads", indexer.query_heads);
  checker.Positive("index_kpool", indexer.tokens_per_key);
  if (indexer.kind == IndexerKind::kShared && !full_indexer_before) {
    checker.Fail("indexer_types: full indexers before a shared one", 0,
                 "at least 1");
  }
}

void CheckSharing(const ModelSpec& spec, size_t layer,
                  const AttentionSpec& attention, LayerChecker& checker) {
  const int32_t target = attention.kv_sharing_target;
  if (target < 0) return;
  if (static_cast<size_t>(target) >= layer ||
      spec.layers[target].attention.size() != 1) {
    return checker.Fail("kv_sharing_target", target,
                        "an earlier layer with one attention");
  }
  const AttentionSpec& shared = spec.layers[target].attention[0];
  if (shared.kv_sharing_target >= 0) {
    checker.Fail("kv_sharing_target", target, "a layer that stores its own KV");
  }
  if (shared.kind != attention.kind || shared.kv_heads != attention.kv_heads ||
      shared.head_dim != attention.head_dim ||
      shared.window != attention.window) {
    checker.Fail("kv_sharing_target", target, "a layer of the same shape");
  }
}

void CheckRecurrent(const RecurrentSpec& recurrent, LayerChecker& checker) {
  checker.Count("convolution kernel", recurrent.conv_kernel);
  if (recurrent.conv_kernel > 0) {
    checker.Positive("convolution channels", recurrent.conv_channels);
  }
  if (recurrent.kind == RecurrentKind::kShortConv) {
    return checker.Positive("convolution kernel", recurrent.conv_kernel);
  }
  checker.Positive("state heads", recurrent.value_heads);
  checker.Positive("state key width", recurrent.key_dim);
  checker.Positive("state value width", recurrent.value_dim);
  const absl::int128 elements = absl::int128(recurrent.value_heads) *
                                recurrent.key_dim * recurrent.value_dim;
  if (elements > kMaxStateElements) {
    checker.Fail("state value width", recurrent.value_dim,
                 absl::StrCat("a state of at most ", kMaxStateElements,
                              " elements per layer"));
  }
}

void CheckFfn(const FfnSpec& ffn, LayerChecker& checker) {
  checker.Count("intermediate_size", ffn.intermediate);
  checker.Count("number of experts", ffn.experts);
  checker.Count("moe_intermediate_size", ffn.expert_intermediate);
  checker.Count("shared expert width", ffn.shared_intermediate);
  checker.Count("routed_expert_hidden_size", ffn.routed_hidden);
}

absl::Status CheckLayers(const ModelSpec& spec,
                         const std::vector<LayerSpec>& layers,
                         absl::string_view what) {
  bool full_indexer = false;
  for (size_t i = 0; i < layers.size(); ++i) {
    LayerChecker checker(absl::StrCat(spec.name, ": ", what, " ", i));
    for (const AttentionSpec& attention : layers[i].attention) {
      CheckKind(attention, checker);
      CheckIndexer(attention.indexer, full_indexer, checker);
      CheckSharing(spec, i, attention, checker);
      full_indexer |= attention.indexer.kind == IndexerKind::kFull;
    }
    if (layers[i].recurrent) CheckRecurrent(*layers[i].recurrent, checker);
    if (layers[i].cross) {
      checker.Positive("decoder_attention_heads", layers[i].cross->kv_heads);
      checker.Positive("head width", layers[i].cross->head_dim);
    }
    CheckFfn(layers[i].ffn, checker);
    if (!checker.status().ok()) return checker.status();
  }
  return absl::OkStatus();
}

std::string DescribeHeads(const AttentionSpec& attention) {
  const absl::string_view name = attention.kv_heads == attention.query_heads
                                     ? "MHA"
                                 : attention.kv_heads == 1 ? "MQA"
                                                           : "GQA";
  std::string text =
      absl::StrCat(name, " ", attention.query_heads, "q/", attention.kv_heads,
                   "kv x ", attention.head_dim);
  if (attention.head_dim_v != attention.head_dim) {
    absl::StrAppend(&text, "/", attention.head_dim_v);
  }
  return text;
}

std::string DescribeAttention(const AttentionSpec& attention) {
  std::string text;
  switch (attention.kind) {
    case AttentionKind::kFull:
      text = DescribeHeads(attention);
      break;
    case AttentionKind::kEncoderOnly:
      text = absl::StrCat("encoder ", DescribeHeads(attention));
      break;
    case AttentionKind::kSlidingWindow:
      text =
          absl::StrCat(DescribeHeads(attention), ", window ", attention.window);
      if (attention.sink_tokens > 0) {
        absl::StrAppend(&text, " + ", attention.sink_tokens, " sinks");
      }
      break;
    case AttentionKind::kChunkedLocal:
      text =
          absl::StrCat(DescribeHeads(attention), ", chunk ", attention.chunk);
      break;
    case AttentionKind::kPromptWindow:
      text = absl::StrCat(DescribeHeads(attention), ", prompt + window ",
                          attention.window);
      break;
    case AttentionKind::kMla:
      text = absl::StrCat("MLA ", attention.kv_lora_rank, "+",
                          attention.qk_rope_head_dim);
      if (attention.mla_without_rope) absl::StrAppend(&text, " NoPE");
      break;
    case AttentionKind::kCompressed:
      text = attention.compress_ratio == 0
                 ? absl::StrCat("window ", attention.window)
                 : absl::StrCat("compressed ", attention.compress_ratio,
                                ":1, window ", attention.window);
      break;
  }
  if (attention.indexer.kind != IndexerKind::kNone) {
    absl::StrAppend(&text, ", ", Name(attention.indexer.kind), " indexer");
    if (attention.indexer.tokens_per_key > 1) {
      absl::StrAppend(&text, " ", attention.indexer.tokens_per_key, ":1");
    }
  }
  if (attention.short_conv_kernel > 0) {
    absl::StrAppend(&text, ", short conv ", attention.short_conv_kernel);
  }
  if (attention.kv_sharing_target >= 0) {
    absl::StrAppend(&text, ", KV of an earlier layer");
  }
  return text;
}

std::string DescribeRecurrent(const RecurrentSpec& recurrent) {
  if (recurrent.kind == RecurrentKind::kShortConv) {
    return absl::StrCat(Name(recurrent.kind), " ", recurrent.conv_channels,
                        " x ", recurrent.conv_kernel);
  }
  return absl::StrCat(Name(recurrent.kind), " ", recurrent.value_heads, " x ",
                      recurrent.value_dim, " x ", recurrent.key_dim);
}

}  // namespace

absl::Status ValidateModelSpec(const ModelSpec& spec) {
  LayerChecker checker(spec.name);
  const auto count = static_cast<int64_t>(spec.layers.size());
  if (count < 1 || count > kMaxLayers) {
    checker.Fail("num_hidden_layers", count, absl::StrCat("1 to ", kMaxLayers));
  }
  const auto mtp_count = static_cast<int64_t>(spec.mtp_layers.size());
  if (mtp_count > kMaxLayers) {
    checker.Fail("number of MTP layers", mtp_count,
                 absl::StrCat("0 to ", kMaxLayers));
  }
  checker.Positive("hidden_size", spec.hidden_size);
  checker.Count("vocab_size", spec.vocab_size);
  if (!checker.status().ok()) return checker.status();
  absl::Status status = CheckLayers(spec, spec.layers, "layer");
  if (!status.ok()) return status;
  return CheckLayers(spec, spec.mtp_layers, "MTP layer");
}

absl::string_view Name(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::kFull:
      return "full";
    case AttentionKind::kSlidingWindow:
      return "sliding window";
    case AttentionKind::kChunkedLocal:
      return "chunked local";
    case AttentionKind::kPromptWindow:
      return "prompt window";
    case AttentionKind::kMla:
      return "MLA";
    case AttentionKind::kCompressed:
      return "compressed";
    case AttentionKind::kEncoderOnly:
      return "encoder only";
  }
  return "";
}

absl::string_view Name(RecurrentKind kind) {
  switch (kind) {
    case RecurrentKind::kMamba1:
      return "Mamba-1";
    case RecurrentKind::kMamba2:
      return "Mamba-2";
    case RecurrentKind::kGatedDeltaNet:
      return "GDN";
    case RecurrentKind::kKda:
      return "KDA";
    case RecurrentKind::kLightning:
      return "lightning";
    case RecurrentKind::kShortConv:
      return "short conv";
    case RecurrentKind::kRgLru:
      return "RG-LRU";
    case RecurrentKind::kRwkv7:
      return "RWKV-7";
  }
  return "";
}

absl::string_view Name(IndexerKind kind) {
  switch (kind) {
    case IndexerKind::kNone:
      return "no";
    case IndexerKind::kFull:
      return "full";
    case IndexerKind::kShared:
      return "shared";
  }
  return "";
}

std::string DescribeLayer(const LayerSpec& layer) {
  std::string text;
  const auto add = [&text](const std::string& part) {
    absl::StrAppend(&text, text.empty() ? "" : " and ", part);
  };
  for (const AttentionSpec& attention : layer.attention) {
    add(DescribeAttention(attention));
  }
  if (layer.recurrent) add(DescribeRecurrent(*layer.recurrent));
  if (layer.cross) {
    add(absl::StrCat("cross ", layer.cross->kv_heads, " x ",
                     layer.cross->head_dim));
  }
  return text.empty() ? "feed-forward only" : text;
}

}  // namespace kvsim
