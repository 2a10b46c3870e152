#include "models/layout_warnings.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "models/state_checkpoints.h"

namespace kvsim {
namespace {

using Change = std::function<void(AttentionSpec&)>;

// One question about one layout, and the arithmetic all warnings share.
class Trap {
 public:
  Trap(const ModelSpec& spec, const LayoutOptions& options,
       const CacheLayout& layout, Tokens tokens, ByteUnits units)
      : spec_(spec),
        options_(options),
        layout_(layout),
        tokens_(tokens),
        units_(units) {}

  const ModelSpec& spec() const { return spec_; }
  const LayoutOptions& options() const { return options_; }
  const CacheLayout& layout() const { return layout_; }
  Tokens tokens() const { return tokens_; }

  Bytes Right() const { return layout_.BytesAt(tokens_); }
  std::string Text(Bytes bytes) const { return FormatBytes(bytes, units_); }
  std::string RightText() const { return Text(Right()); }
  std::string At() const {
    return absl::StrCat("at ", FormatCount(tokens_.value()), " tokens");
  }

  // The total if every attention were changed this way.
  std::optional<Bytes> WithAttention(const Change& change) const {
    ModelSpec wrong = spec_;
    for (LayerSpec& layer : wrong.layers) {
      for (AttentionSpec& attention : layer.attention) change(attention);
    }
    return Total(wrong, options_);
  }

  std::optional<Bytes> WithOptions(const LayoutOptions& options) const {
    return Total(spec_, options);
  }

  // The first attention for which `test` holds.
  const AttentionSpec* Find(
      const std::function<bool(const AttentionSpec&)>& test) const {
    for (const LayerSpec& layer : spec_.layers) {
      for (const AttentionSpec& attention : layer.attention) {
        if (test(attention)) return &attention;
      }
    }
    return nullptr;
  }

  Bytes BytesOfStore(CacheStore store) const {
    Bytes sum;
    SequenceLength length;
    length.tokens = tokens_;
    length.encoder_tokens = layout_.default_encoder_tokens;
    for (const LayerCache& layer : layout_.layers) {
      for (const CacheTensor& tensor : layer.tensors) {
        if (tensor.store == store) sum += tensor.BytesAt(length);
      }
    }
    return sum;
  }

 private:
  std::optional<Bytes> Total(const ModelSpec& spec,
                             const LayoutOptions& options) const {
    const absl::StatusOr<CacheLayout> layout = BuildCacheLayout(spec, options);
    if (!layout.ok()) return std::nullopt;
    return layout->BytesAt(tokens_);
  }

  const ModelSpec& spec_;
  const LayoutOptions& options_;
  const CacheLayout& layout_;
  const Tokens tokens_;
  const ByteUnits units_;
};

using Warning = std::optional<std::string>;

std::string Times(Bytes wrong, Bytes right) {
  if (right <= Bytes(0)) return "";
  return absl::StrCat(" (", FormatRatio(wrong.value(), right.value(), 1),
                      " times)");
}

bool IsDense(const AttentionSpec& attention) {
  return attention.kind != AttentionKind::kMla &&
         attention.kind != AttentionKind::kCompressed;
}

Warning QueryHeadsAsKvHeads(const Trap& trap) {
  const AttentionSpec* grouped = trap.Find([](const AttentionSpec& attention) {
    return IsDense(attention) && attention.kv_heads < attention.query_heads;
  });
  if (grouped == nullptr) return std::nullopt;
  const std::optional<Bytes> wrong =
      trap.WithAttention([](AttentionSpec& attention) {
        if (IsDense(attention)) attention.kv_heads = attention.query_heads;
      });
  if (!wrong) return std::nullopt;
  return absl::StrCat("query heads are not KV heads: counting K and V for ",
                      grouped->query_heads, " query heads instead of ",
                      grouped->kv_heads, " KV heads would give ",
                      trap.Text(*wrong), " ", trap.At(), " instead of ",
                      trap.RightText(), Times(*wrong, trap.Right()));
}

// What K and V of every head would take: MLA read as if it were MHA, and an
// engine that expands latents before it stores them.
Warning LatentsAsHeads(const Trap& trap) {
  const AttentionSpec* latent = trap.Find([](const AttentionSpec& attention) {
    return attention.kind == AttentionKind::kMla && attention.head_dim > 0 &&
           attention.head_dim_v > 0;
  });
  if (latent == nullptr) return std::nullopt;
  const int64_t expanded =
      latent->query_heads * (latent->head_dim + latent->head_dim_v);
  const std::optional<Bytes> wrong =
      trap.WithAttention([](AttentionSpec& attention) {
        if (attention.kind != AttentionKind::kMla) return;
        attention.kind = AttentionKind::kFull;
        attention.kv_heads = attention.query_heads;
      });
  if (!wrong) return std::nullopt;
  return absl::StrCat(
      "MLA stores one row of ", latent->kv_lora_rank, " + ",
      latent->qk_rope_head_dim, " elements for all heads: K and V of ",
      latent->query_heads, " heads, ", FormatCount(expanded),
      " elements per layer and token, would give ", trap.Text(*wrong), " ",
      trap.At(), " instead of ", trap.RightText(), Times(*wrong, trap.Right()),
      "; an engine that expands latents before storing them pays that");
}

Warning QueryRankCounted(const Trap& trap) {
  const AttentionSpec* latent = trap.Find([](const AttentionSpec& attention) {
    return attention.kind == AttentionKind::kMla && attention.q_lora_rank > 0;
  });
  if (latent == nullptr) return std::nullopt;
  const std::optional<Bytes> wrong =
      trap.WithAttention([](AttentionSpec& attention) {
        if (attention.kind == AttentionKind::kMla) {
          attention.kv_lora_rank += attention.q_lora_rank;
        }
      });
  if (!wrong) return std::nullopt;
  return absl::StrCat("q_lora_rank ", latent->q_lora_rank,
                      " belongs to the query and is never cached: counting it "
                      "would give ",
                      trap.Text(*wrong), " ", trap.At(), " instead of ",
                      trap.RightText());
}

const AttentionSpec* FindIndexed(const Trap& trap) {
  return trap.Find([](const AttentionSpec& attention) {
    return attention.indexer.kind == IndexerKind::kFull;
  });
}

Warning ForgottenIndexKeys(const Trap& trap) {
  const Bytes index = trap.BytesOfStore(CacheStore::kIndex);
  if (index == Bytes(0)) return std::nullopt;
  return absl::StrCat("index keys are cached too: they are ", trap.Text(index),
                      " of ", trap.RightText(), " ", trap.At(), ", ",
                      FormatPercent(index.value(), trap.Right().value()));
}

Warning PerHeadIndexKeys(const Trap& trap) {
  const AttentionSpec* indexed = FindIndexed(trap);
  if (indexed == nullptr || indexed->indexer.query_heads <= 1) {
    return std::nullopt;
  }
  const bool as_article = trap.options().as_article;
  const int64_t counted = trap.options().index_key_heads.value_or(
      as_article ? trap.spec().article.index_key_heads : 1);
  LayoutOptions options = trap.options();
  options.index_key_heads = counted == 1 ? indexed->indexer.query_heads : 1;
  const std::optional<Bytes> other = trap.WithOptions(options);
  if (!other) return std::nullopt;
  const std::string heads = absl::StrCat(indexed->indexer.query_heads);
  if (counted == 1) {
    return absl::StrCat(
        "index heads exist on the query side only: a key for each of the ",
        heads, " heads would give ", trap.Text(*other), " ", trap.At(),
        " instead of ", trap.RightText(), Times(*other, trap.Right()));
  }
  return absl::StrCat(
      "this counts ", counted,
      " index keys per token; DeepSeek's reference and every engine store "
      "one, which gives ",
      trap.Text(*other), " ", trap.At(), " instead of ", trap.RightText());
}

Warning TopKAsRetention(const Trap& trap) {
  const AttentionSpec* indexed = FindIndexed(trap);
  if (indexed == nullptr || indexed->indexer.top_k == 0 ||
      Tokens(indexed->indexer.top_k) >= trap.tokens()) {
    return std::nullopt;
  }
  const Bytes wrong = trap.layout().BytesAt(Tokens(indexed->indexer.top_k));
  return absl::StrCat(
      "index_topk ", FormatCount(indexed->indexer.top_k),
      " bounds what a step reads, not what is kept: only that many positions "
      "would be ",
      trap.Text(wrong), ", kept are ", trap.RightText(), " ", trap.At());
}

Warning SharedIndexers(const Trap& trap) {
  const AttentionSpec* shared = trap.Find([](const AttentionSpec& attention) {
    return attention.indexer.kind == IndexerKind::kShared;
  });
  if (shared == nullptr || trap.options().index_keys_on_shared_layers) {
    return std::nullopt;
  }
  LayoutOptions options = trap.options();
  options.index_keys_on_shared_layers = true;
  const std::optional<Bytes> other = trap.WithOptions(options);
  if (!other) return std::nullopt;
  return absl::StrCat(
      "layers with a shared indexer keep no index keys in vLLM and "
      "TensorRT-LLM; SGLang allocates them on every layer, ",
      trap.Text(*other), " ", trap.At(), " instead of ", trap.RightText(),
      "; each layer keeps its own latents either way");
}

Warning WindowAsHistory(const Trap& trap) {
  const AttentionSpec* windowed = trap.Find([](const AttentionSpec& attention) {
    return attention.kind == AttentionKind::kSlidingWindow ||
           attention.kind == AttentionKind::kChunkedLocal;
  });
  if (windowed == nullptr) return std::nullopt;
  const std::optional<Bytes> wrong =
      trap.WithAttention([](AttentionSpec& attention) {
        if (IsDense(attention)) attention.kind = AttentionKind::kFull;
      });
  if (!wrong || *wrong == trap.Right()) return std::nullopt;
  const bool chunked = windowed->kind == AttentionKind::kChunkedLocal;
  return absl::StrCat(
      chunked ? "chunked layers keep the current chunk of "
              : "windowed layers keep the last ",
      FormatCount(chunked ? windowed->chunk : windowed->window),
      " tokens: full history on every layer would give ", trap.Text(*wrong),
      " ", trap.At(), " instead of ", trap.RightText(),
      "; an engine that turns its hybrid cache manager off pays that");
}

Warning SharedKeyValue(const Trap& trap) {
  const AttentionSpec* compressed = trap.Find([](const AttentionSpec& a) {
    return a.kind == AttentionKind::kCompressed;
  });
  if (compressed != nullptr) {
    const Bytes rows = trap.BytesOfStore(CacheStore::kMain) +
                       trap.BytesOfStore(CacheStore::kWindow);
    return absl::StrCat(
        "one row serves as key and value: the factor 2 of K and V would give ",
        trap.Text(trap.Right() + rows), " ", trap.At(), " instead of ",
        trap.RightText());
  }
  const AttentionSpec* shared = trap.Find([](const AttentionSpec& attention) {
    return attention.key_equals_value_weights;
  });
  if (shared == nullptr) return std::nullopt;
  return std::string(
      "layers whose K and V share one projection (attention_k_eq_v) still "
      "store both: allocators keep two tensors");
}

// Elements of the cache that would change size with the weights' dtype.
Warning WeightDTypeAsCacheDType(const Trap& trap) {
  const QuantizationSpec& quantization = trap.spec().quantization;
  if (quantization.method.empty()) return std::nullopt;
  const DType weights = std::min(
      quantization.weight_dtype, quantization.expert_dtype,
      [](DType a, DType b) { return BitsPerElement(a) < BitsPerElement(b); });
  LayoutOptions options = trap.options();
  options.kv_cache_dtype = KvCacheDtype::kFp8;
  const std::optional<Bytes> fp8 = trap.WithOptions(options);
  if (!fp8 || *fp8 == trap.Right()) return std::nullopt;
  return absl::StrCat(
      "the weights' ", Name(weights), " (", quantization.method,
      ") says nothing about the cache: it is ", trap.RightText(), " ",
      trap.At(), "; with --kv-cache-dtype fp8 it would be ", trap.Text(*fp8));
}

// A request for fp8 becomes a wider row where FlashMLA's sparse kernels run.
Warning Fp8BecomesPackedRows(const Trap& trap) {
  const AttentionSpec* sparse = FindIndexed(trap);
  if (sparse == nullptr || sparse->kind != AttentionKind::kMla ||
      trap.options().kv_cache_dtype != KvCacheDtype::kFp8) {
    return std::nullopt;
  }
  LayoutOptions options = trap.options();
  options.kv_cache_dtype = KvCacheDtype::kFp8DsMla;
  const std::optional<Bytes> packed = trap.WithOptions(options);
  if (!packed) return std::nullopt;
  return absl::StrCat(
      "FlashMLA's sparse kernels turn fp8 into fp8_ds_mla rows with scales and "
      "a bf16 rope part: ",
      trap.Text(*packed), " ", trap.At(), " instead of ", trap.RightText());
}

Warning StatesAndCheckpoints(const Trap& trap) {
  const Bytes state = trap.BytesOfStore(CacheStore::kRecurrent);
  constexpr Tokens kInterval(4096);
  const int64_t checkpoints =
      trap.options().as_article
          ? CheckpointsAsArticle(trap.tokens(), kInterval)
          : CheckpointsOfEngines(trap.tokens(), kInterval);
  // Sizes that no memory holds need no warning.
  if (state == Bytes(0) || checkpoints == 0 ||
      state > Bytes::Max() / checkpoints) {
    return std::nullopt;
  }
  return absl::StrCat(
      "the recurrent states' ", trap.Text(state),
      " do not grow with the context, but every prefix checkpoint stores them "
      "again: one each 4,096 tokens are ",
      FormatCount(checkpoints), " and ",
      trap.Text(CheckpointBytes(trap.layout(), checkpoints)), " ", trap.At());
}

Warning StatesLeftOut(const Trap& trap) {
  if (!trap.options().as_article ||
      trap.spec().article.counts_recurrent_state) {
    return std::nullopt;
  }
  ModelSpec counted = trap.spec();
  counted.article.counts_recurrent_state = true;
  LayoutOptions engine = trap.options();
  engine.as_article = false;
  const absl::StatusOr<CacheLayout> article =
      BuildCacheLayout(counted, trap.options());
  const absl::StatusOr<CacheLayout> engines =
      BuildCacheLayout(trap.spec(), engine);
  if (!article.ok() || !engines.ok()) return std::nullopt;
  return absl::StrCat("the article leaves the recurrent states out: ",
                      trap.Text(article->FixedBytes()), " in its dtype, ",
                      trap.Text(engines->FixedBytes()), " in the engines'");
}

Warning PageAlignment(const Trap& trap) {
  SequenceLength length;
  length.tokens = trap.tokens();
  const Bytes padding = trap.layout().PaddingBytesAt(length);
  if (padding == Bytes(0)) return std::nullopt;
  return absl::StrCat("of ", trap.RightText(), " ", trap.At(), ", ",
                      trap.Text(padding),
                      " are what the row format's page alignment adds; the "
                      "rows alone are ",
                      trap.Text(trap.Right() - padding));
}

Warning BeyondPositions(const Trap& trap) {
  const int64_t limit = trap.spec().max_position_embeddings;
  if (limit == 0 || trap.tokens() <= Tokens(limit)) return std::nullopt;
  return absl::StrCat(FormatCount(trap.tokens().value()),
                      " tokens are beyond the model's ", FormatCount(limit),
                      " positions; the figure shows scaling only");
}

Warning GibibytesAsGigabytes(const Trap& trap) {
  if (trap.Right() < GiB(1)) return std::nullopt;
  return absl::StrCat(FormatGiB(trap.Right()), " are ", FormatGB(trap.Right()),
                      ": GB are 7.4 % smaller");
}

Warning AssumedFields(const Trap& trap) {
  if (trap.spec().assumed_fields.empty()) return std::nullopt;
  std::string text = "not published but assumed are";
  for (const std::string& field : trap.spec().assumed_fields) {
    absl::StrAppend(&text, " [", field, "]");
  }
  return text;
}

constexpr Warning (*kWarnings[])(const Trap&) = {
    AssumedFields,        BeyondPositions,      QueryHeadsAsKvHeads,
    LatentsAsHeads,       QueryRankCounted,     ForgottenIndexKeys,
    PerHeadIndexKeys,     TopKAsRetention,      SharedIndexers,
    WindowAsHistory,      SharedKeyValue,       WeightDTypeAsCacheDType,
    Fp8BecomesPackedRows, StatesAndCheckpoints, StatesLeftOut,
    PageAlignment,        GibibytesAsGigabytes,
};

}  // namespace

std::vector<std::string> LayoutWarnings(const ModelSpec& spec,
                                        const LayoutOptions& options,
                                        const CacheLayout& layout,
                                        Tokens tokens, ByteUnits units) {
  const Trap trap(spec, options, layout, tokens, units);
  std::vector<std::string> texts;
  for (const auto warning : kWarnings) {
    if (Warning text = warning(trap)) texts.push_back(*std::move(text));
  }
  return texts;
}

}  // namespace kvsim
