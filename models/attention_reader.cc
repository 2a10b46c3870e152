#include "models/attention_reader.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace kvsim {
namespace {

constexpr ConfigFields::Names kQueryHeads = {
    "decoder_attention_heads", "num_attention_heads", "n_head", "num_heads"};
constexpr ConfigFields::Names kKvHeads = {"num_key_value_heads", "num_kv_heads",
                                          "num_attention_groups", "n_head_kv",
                                          "multi_query_group_num"};
constexpr ConfigFields::Names kHeadDim = {"head_dim", "attention_head_dim",
                                          "d_kv", "kv_channels"};

int64_t NextPowerOfTwo(int64_t value) {
  int64_t power = 1;
  while (power < value) power *= 2;
  return power;
}

}  // namespace

AttentionReader::AttentionReader(const Dialect& dialect, int64_t layers,
                                 int64_t mtp_layers, int64_t hidden_size,
                                 const LayerPlan& plan, ConfigFields& fields)
    : dialect_(dialect),
      layers_(layers),
      mtp_layers_(mtp_layers),
      hidden_size_(hidden_size),
      fields_(fields) {
  some_layers_sparse_ = std::find(plan.layers.begin(), plan.layers.end(),
                                  LayerMix::kSparse) != plan.layers.end();
  if (dialect.family == AttentionFamily::kMla &&
      fields.Has({"index_head_dim"})) {
    indexer_kinds_ = ReadIndexerKinds();
  }
  // The newer form names kinds in layer_types and rates in compress_rates.
  if (dialect.family == AttentionFamily::kCompressed &&
      !fields.Has({"layer_types"})) {
    compress_ratios_ = fields.Ints({"compress_ratios"});
    CheckListLength("compress_ratios", compress_ratios_.size(), layers,
                    mtp_layers, fields);
  }
  if (fields.Has({"num_attention_heads_per_layer"})) {
    query_heads_ = fields.Ints({"num_attention_heads_per_layer"});
    CheckListLength("num_attention_heads_per_layer", query_heads_.size(),
                    layers, mtp_layers, fields);
  }
  if (dialect.pattern == LayerPattern::kBlockConfigs) ReadBlockConfigs();
}

// Nemotron-NAS: query heads per KV head, and perhaps a window, in each block.
void AttentionReader::ReadBlockConfigs() {
  for (ConfigFields& block : fields_.Objects("block_configs")) {
    std::optional<ConfigFields> attention = block.Object("attention");
    heads_per_kv_.push_back(
        attention ? attention->CountOr({"n_heads_in_group"}, 0) : 0);
    windows_.push_back(attention ? attention->CountOr({"window_length"}, 0)
                                 : 0);
  }
}

AttentionSpec AttentionReader::Read(LayerMix mix, int64_t layer) {
  switch (dialect_.family) {
    case AttentionFamily::kHeads:
      return ReadHeads(mix, layer);
    case AttentionFamily::kMla:
      return ReadMla(mix, layer);
    case AttentionFamily::kMlaIfRanked:
      return fields_.Has({"kv_lora_rank"}) ? ReadMla(mix, layer)
                                           : ReadHeads(mix, layer);
    case AttentionFamily::kCompressed:
      return ReadCompressed(mix, layer);
  }
  KVSIM_CHECK(false) << "family " << static_cast<int>(dialect_.family);
  return {};
}

// An explicit width wins; hidden_size / heads is only a convention.
int64_t AttentionReader::HeadDim(int64_t query_heads) {
  if (fields_.Has(kHeadDim)) return fields_.RequiredCount(kHeadDim);
  if (hidden_size_ % query_heads != 0) {
    fields_.FailMissing(
        "head_dim",
        absl::StrCat("head_dim, or a hidden_size (", hidden_size_,
                     ") that num_attention_heads (", query_heads, ") divides"));
    return 1;
  }
  return hidden_size_ / query_heads;
}

// multi_query wins over a count of KV heads that only the newer Falcon
// architecture means (falcon-7b says num_kv_heads 71 and keeps one).
int64_t AttentionReader::KvHeads(int64_t query_heads, int64_t layer) {
  if (dialect_.Has(kMultiQuery) &&
      !fields_.BoolOr({"new_decoder_architecture"}, false)) {
    return fields_.BoolOr({"multi_query"}, true) ? 1 : query_heads;
  }
  if (layer < static_cast<int64_t>(heads_per_kv_.size()) &&
      heads_per_kv_[layer] > 0) {
    if (query_heads % heads_per_kv_[layer] != 0) {
      fields_.Fail("num_attention_heads",
                   absl::StrCat("a multiple of n_heads_in_group (",
                                heads_per_kv_[layer], ") of block ", layer));
    }
    return std::max<int64_t>(query_heads / heads_per_kv_[layer], 1);
  }
  return fields_.PositiveOr(kKvHeads, query_heads);
}

AttentionSpec AttentionReader::ReadHeads(LayerMix mix, int64_t layer) {
  AttentionSpec attention;
  attention.query_heads = fields_.RequiredCount(kQueryHeads);
  attention.kv_heads = KvHeads(attention.query_heads, layer);
  attention.head_dim = HeadDim(attention.query_heads);
  attention.head_dim_v = fields_.PositiveOr({"v_head_dim"}, attention.head_dim);
  attention.query_key_norm =
      fields_.BoolOr({"use_qk_norm"}, dialect_.Has(kQkNorm));
  attention.q_lora_rank = fields_.CountOr({"share_q_dim"}, 0);
  if (mix == LayerMix::kWindow) {
    ReadWindow(attention, layer);
  } else if (mix == LayerMix::kChunk) {
    constexpr int64_t kClassDefault = 8192;
    attention.kind = AttentionKind::kChunkedLocal;
    attention.chunk =
        fields_.PositiveOr({"attention_chunk_size"}, kClassDefault);
  } else if (fields_.Has({"global_head_dim"})) {
    // Gemma 4: full layers have their own width and perhaps head count.
    attention.head_dim = fields_.RequiredCount({"global_head_dim"});
    attention.head_dim_v = attention.head_dim;
    attention.kv_heads =
        fields_.PositiveOr({"num_global_key_value_heads"}, attention.kv_heads);
    attention.key_equals_value_weights =
        fields_.BoolOr({"attention_k_eq_v"}, false);
  }
  if (layer < static_cast<int64_t>(query_heads_.size())) {
    attention.query_heads = query_heads_[layer];
  }
  const bool indexed = mix == LayerMix::kSparse ||
                       (mix == LayerMix::kFull && !some_layers_sparse_ &&
                        fields_.Has({"indexer_head_dim"}));
  if (indexed) attention.indexer = BlockIndexer();
  ReadShortConvolutions(attention);
  attention.sink_logits = dialect_.Has(kSinkLogits);
  if (fields_.BoolOr({"attn_output_gate"}, dialect_.Has(kOutputGate))) {
    attention.gate_width = attention.query_heads * attention.head_dim;
  }
  ReadBiases(attention);
  return attention;
}

// Windowed layers may have their own heads and widths: MiMo and Inkling in
// fields that begin with swa_, Step in an object.
void AttentionReader::ReadWindow(AttentionSpec& attention, int64_t layer) {
  attention.kind = AttentionKind::kSlidingWindow;
  const bool own_window =
      layer < static_cast<int64_t>(windows_.size()) && windows_[layer] > 0;
  attention.window =
      own_window
          ? windows_[layer]
          : fields_.RequiredCount({"sliding_window", "sliding_window_size",
                                   "attention_window_size"});
  attention.query_heads =
      fields_.PositiveOr({"swa_num_attention_heads"}, attention.query_heads);
  attention.kv_heads =
      fields_.PositiveOr({"swa_num_key_value_heads"}, attention.kv_heads);
  attention.head_dim = fields_.PositiveOr({"swa_head_dim"}, attention.head_dim);
  attention.head_dim_v =
      fields_.PositiveOr({"swa_v_head_dim"}, attention.head_dim_v);
  std::optional<ConfigFields> other = fields_.Object("attention_other_setting");
  if (!other) return;
  attention.query_heads = other->PositiveOr(kQueryHeads, attention.query_heads);
  attention.kv_heads = other->PositiveOr(kKvHeads, attention.kv_heads);
  attention.head_dim = other->PositiveOr(kHeadDim, attention.head_dim);
  attention.head_dim_v = attention.head_dim;
}

// Inkling convolves K, V and two streams of hidden width; engines pack the
// four per KV head and round up. Source: vLLM 2026-08.
void AttentionReader::ReadShortConvolutions(AttentionSpec& attention) {
  if (!fields_.BoolOr({"use_sconv"}, false)) return;
  attention.short_conv_kernel = fields_.RequiredCount({"sconv_kernel_size"});
  attention.short_conv_width = NextPowerOfTwo(
      2 * attention.head_dim + 2 * hidden_size_ / attention.kv_heads);
}

void AttentionReader::ReadBiases(AttentionSpec& attention) {
  const bool bias = fields_.BoolOr({"attention_bias"}, dialect_.Has(kQkvBias));
  attention.query_bias = attention.key_value_bias = bias;
  attention.output_bias = fields_.BoolOr({"attention_out_bias"},
                                         bias && dialect_.Has(kBiasOnOutput));
}

AttentionSpec AttentionReader::ReadMla(LayerMix mix, int64_t layer) {
  AttentionSpec attention;
  attention.kind = AttentionKind::kMla;
  attention.query_heads = fields_.RequiredCount(kQueryHeads);
  attention.kv_heads = 1;
  attention.q_lora_rank = fields_.CountOr({"q_lora_rank"}, 0);
  attention.kv_lora_rank = fields_.RequiredCount({"kv_lora_rank"});
  attention.qk_rope_head_dim = fields_.CountOr({"qk_rope_head_dim"}, 0);
  attention.qk_nope_head_dim = fields_.CountOr({"qk_nope_head_dim"}, 0);
  attention.head_dim = attention.qk_nope_head_dim + attention.qk_rope_head_dim;
  attention.head_dim_v = fields_.CountOr({"v_head_dim"}, 0);
  attention.mla_without_rope = fields_.BoolOr({"mla_use_nope"}, false);
  if (fields_.BoolOr({"mla_use_output_gate"}, false)) {
    attention.gate_width = attention.query_heads * attention.head_dim_v;
  }
  const bool dense = mix == LayerMix::kFull && some_layers_sparse_;
  if (!indexer_kinds_.empty() && (layer >= layers_ || !dense)) {
    // MTP layers always build their own indexer.
    attention.indexer =
        Indexer(layer < layers_ ? indexer_kinds_[layer] : IndexerKind::kFull);
  }
  return attention;
}

AttentionSpec AttentionReader::ReadCompressed(LayerMix mix, int64_t layer) {
  AttentionSpec attention;
  attention.kind = AttentionKind::kCompressed;
  attention.query_heads = fields_.RequiredCount(kQueryHeads);
  attention.kv_heads = fields_.PositiveOr(kKvHeads, 1);
  if (attention.kv_heads != 1) {
    fields_.Fail("num_key_value_heads", "1, one shared row of K = V");
  }
  attention.head_dim = fields_.RequiredCount({"head_dim"});
  attention.head_dim_v = attention.head_dim;
  attention.qk_rope_head_dim = fields_.RequiredCount({"qk_rope_head_dim"});
  attention.window = fields_.RequiredCount({"sliding_window"});
  attention.q_lora_rank = fields_.CountOr({"q_lora_rank"}, 0);
  attention.o_lora_rank = fields_.CountOr({"o_lora_rank"}, 0);
  attention.o_groups = fields_.CountOr({"o_groups"}, 0);
  const int64_t ratio = CompressRatio(mix, layer);
  // 1 is another spelling of "not compressed".
  attention.compress_ratio = ratio <= 1 ? 0 : ratio;
  // Layers of ratio 4 choose among their rows, those of 128 read all.
  constexpr int64_t kIndexedRatio = 4;
  if (attention.compress_ratio == kIndexedRatio) {
    attention.indexer = Indexer(IndexerKind::kFull);
  }
  return attention;
}

// An MTP layer beyond the list has a window only.
int64_t AttentionReader::CompressRatio(LayerMix mix, int64_t layer) {
  if (layer < static_cast<int64_t>(compress_ratios_.size())) {
    return compress_ratios_[layer];
  }
  if (mix != LayerMix::kCompressed4 && mix != LayerMix::kCompressed128) {
    return 0;
  }
  const bool dense = mix == LayerMix::kCompressed128;
  std::optional<ConfigFields> rates = fields_.Object("compress_rates");
  if (!rates) return dense ? 128 : 4;
  return dense ? rates->PositiveOr({"heavily_compressed_attention"}, 128)
               : rates->PositiveOr({"compressed_sparse_attention"}, 4);
}

IndexerSpec AttentionReader::Indexer(IndexerKind kind) {
  IndexerSpec indexer;
  indexer.kind = kind;
  indexer.head_dim = fields_.RequiredCount({"index_head_dim"});
  indexer.query_heads = fields_.CountOr({"index_n_heads"}, 0);
  indexer.top_k = fields_.CountOr({"index_topk"}, 0);
  indexer.tokens_per_key = fields_.PositiveOr({"index_kpool"}, 1);
  return indexer;
}

// Indexers beside K and V heads choose blocks of tokens: MiniMax-M3 describes
// them in sparse_attention_config, Qwen in fields that begin with indexer_.
IndexerSpec AttentionReader::BlockIndexer() {
  IndexerSpec indexer;
  indexer.kind = IndexerKind::kFull;
  indexer.format = IndexKeyFormat::kCacheDtype;
  std::optional<ConfigFields> config =
      fields_.Object("sparse_attention_config");
  if (!config) {
    indexer.head_dim = fields_.RequiredCount({"indexer_head_dim"});
    indexer.query_heads = fields_.CountOr({"indexer_n_heads"}, 0);
    indexer.top_k = fields_.CountOr({"indexer_budget"}, 0);
    indexer.tokens_per_key = fields_.PositiveOr({"indexer_compress_ratio"}, 1);
    return indexer;
  }
  indexer.head_dim = config->RequiredCount({"sparse_index_dim"});
  indexer.query_heads = config->CountOr({"sparse_num_index_heads"}, 0);
  indexer.top_k = config->CountOr({"sparse_topk_blocks"}, 0) *
                  config->PositiveOr({"sparse_block_size"}, 1);
  return indexer;
}

// An explicit list wins; then the letters of index_topk_pattern; then the
// interval, by which layer i is shared iff max(i - offset + 1, 0) mod freq !=
// 0. Source: vLLM deepseek_v2.py, transformers configuration_glm_moe_dsa.py.
std::vector<IndexerKind> AttentionReader::ReadIndexerKinds() {
  std::vector<IndexerKind> kinds(layers_, IndexerKind::kFull);
  const auto share_unless = [&](int64_t layer, bool full) {
    if (!full) kinds[layer] = IndexerKind::kShared;
  };
  if (fields_.Has({"indexer_types"})) {
    const std::vector<std::string> types = fields_.Strings({"indexer_types"});
    if (!CheckListLength("indexer_types", types.size(), layers_, mtp_layers_,
                         fields_)) {
      return kinds;
    }
    for (int64_t i = 0; i < layers_; ++i) {
      if (types[i] != "full" && types[i] != "shared") {
        fields_.Fail("indexer_types", absl::StrCat("full or shared; entry ", i,
                                                   " is \"", types[i], "\""));
      }
      share_unless(i, types[i] == "full");
    }
    return kinds;
  }
  const std::string letters = fields_.StringOr({"index_topk_pattern"}, "");
  if (!letters.empty()) {
    if (static_cast<int64_t>(letters.size()) != layers_ ||
        letters.find_first_not_of("FS") != std::string::npos) {
      fields_.Fail("index_topk_pattern",
                   absl::StrCat("a string of ", layers_, " letters F or S"));
      return kinds;
    }
    for (int64_t i = 0; i < layers_; ++i) share_unless(i, letters[i] == 'F');
    return kinds;
  }
  const int64_t period =
      fields_.PositiveOr({"index_topk_freq"}, dialect_.indexer_period);
  const int64_t offset = fields_.CountOr({"index_skip_topk_offset"}, 2);
  for (int64_t i = 0; i < layers_; ++i) {
    share_unless(i, std::max<int64_t>(i - offset + 1, 0) % period == 0);
  }
  return kinds;
}

CrossAttentionSpec AttentionReader::ReadCross() {
  CrossAttentionSpec cross;
  cross.kv_heads = fields_.RequiredCount(kQueryHeads);
  cross.head_dim = HeadDim(cross.kv_heads);
  return cross;
}

AttentionSpec AttentionReader::ReadEncoder() {
  AttentionSpec attention = ReadHeads(LayerMix::kFull, 0);
  attention.kind = AttentionKind::kEncoderOnly;
  return attention;
}

}  // namespace kvsim
