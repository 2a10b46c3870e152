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
                                          "num_attention_groups"};
constexpr ConfigFields::Names kHeadDim = {"head_dim", "attention_head_dim"};

}  // namespace

AttentionReader::AttentionReader(const Dialect& dialect, int64_t layers,
                                 int64_t mtp_layers, int64_t hidden_size,
                                 ConfigFields& fields)
    : dialect_(dialect),
      layers_(layers),
      mtp_layers_(mtp_layers),
      hidden_size_(hidden_size),
      fields_(fields) {
  if (dialect.family == AttentionFamily::kMla &&
      fields.Has({"index_head_dim"})) {
    indexer_kinds_ = ReadIndexerKinds();
  }
  if (dialect.family == AttentionFamily::kCompressed) {
    compress_ratios_ = fields.Ints({"compress_ratios"});
    CheckListLength("compress_ratios", compress_ratios_.size(), layers,
                    mtp_layers, fields);
  }
}

AttentionSpec AttentionReader::Read(LayerMix mix, int64_t layer) {
  switch (dialect_.family) {
    case AttentionFamily::kHeads:
      return ReadHeads(mix);
    case AttentionFamily::kMla:
      return ReadMla(layer);
    case AttentionFamily::kCompressed:
      return ReadCompressed(layer);
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

AttentionSpec AttentionReader::ReadHeads(LayerMix mix) {
  AttentionSpec attention;
  attention.query_heads = fields_.RequiredCount(kQueryHeads);
  attention.kv_heads = fields_.PositiveOr(kKvHeads, attention.query_heads);
  attention.head_dim = HeadDim(attention.query_heads);
  attention.head_dim_v = fields_.PositiveOr({"v_head_dim"}, attention.head_dim);
  attention.query_key_norm =
      fields_.BoolOr({"use_qk_norm"}, dialect_.Has(kQkNorm));
  if (mix == LayerMix::kWindow) {
    attention.kind = AttentionKind::kSlidingWindow;
    attention.window =
        fields_.RequiredCount({"sliding_window", "sliding_window_size"});
    attention.query_heads =
        fields_.PositiveOr({"swa_num_attention_heads"}, attention.query_heads);
    attention.kv_heads =
        fields_.PositiveOr({"swa_num_key_value_heads"}, attention.kv_heads);
    attention.head_dim =
        fields_.PositiveOr({"swa_head_dim"}, attention.head_dim);
    attention.head_dim_v =
        fields_.PositiveOr({"swa_v_head_dim"}, attention.head_dim_v);
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
  attention.sink_logits = dialect_.Has(kSinkLogits);
  if (fields_.BoolOr({"attn_output_gate"}, dialect_.Has(kOutputGate))) {
    attention.gate_width = attention.query_heads * attention.head_dim;
  }
  ReadBiases(attention);
  return attention;
}

void AttentionReader::ReadBiases(AttentionSpec& attention) {
  const bool bias = fields_.BoolOr({"attention_bias"}, dialect_.Has(kQkvBias));
  attention.query_bias = attention.key_value_bias = bias;
  attention.output_bias = fields_.BoolOr({"attention_out_bias"},
                                         bias && dialect_.Has(kBiasOnOutput));
}

AttentionSpec AttentionReader::ReadMla(int64_t layer) {
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
  if (!indexer_kinds_.empty()) {
    // MTP layers always build their own indexer.
    attention.indexer =
        Indexer(layer < layers_ ? indexer_kinds_[layer] : IndexerKind::kFull);
  }
  return attention;
}

AttentionSpec AttentionReader::ReadCompressed(int64_t layer) {
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
  // An MTP layer beyond the list has a window only.
  const int64_t ratio = layer < static_cast<int64_t>(compress_ratios_.size())
                            ? compress_ratios_[layer]
                            : 0;
  // 1 is another spelling of "not compressed".
  attention.compress_ratio = ratio <= 1 ? 0 : ratio;
  // Layers of ratio 4 choose among their rows, those of 128 read all.
  constexpr int64_t kIndexedRatio = 4;
  if (attention.compress_ratio == kIndexedRatio) {
    attention.indexer = Indexer(IndexerKind::kFull);
  }
  return attention;
}

IndexerSpec AttentionReader::Indexer(IndexerKind kind) {
  IndexerSpec indexer;
  indexer.kind = kind;
  indexer.head_dim = fields_.RequiredCount({"index_head_dim"});
  indexer.query_heads = fields_.CountOr({"index_n_heads"}, 0);
  indexer.top_k = fields_.CountOr({"index_topk"}, 0);
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
  const int64_t period = fields_.PositiveOr({"index_topk_freq"}, 1);
  const int64_t offset = fields_.CountOr({"index_skip_topk_offset"}, 2);
  for (int64_t i = 0; i < layers_; ++i) {
    share_unless(i, std::max<int64_t>(i - offset + 1, 0) % period == 0);
  }
  return kinds;
}

RecurrentSpec AttentionReader::ReadRecurrent() {
  KVSIM_CHECK(dialect_.linear.has_value());
  RecurrentSpec recurrent =
      *dialect_.linear == RecurrentKind::kKda ? ReadKda() : ReadGatedDeltaNet();
  const std::string dtype =
      fields_.StringOr({"mamba_ssm_dtype", "mamba_ssm_cache_dtype"}, "");
  if (!dtype.empty()) {
    recurrent.state_dtype = ParseDType(dtype);
    if (!recurrent.state_dtype) {
      fields_.Fail("mamba_ssm_dtype", "float32, bfloat16 or float16");
    }
  }
  return recurrent;
}

// Q, K and V each pass a short convolution, so it runs over 3 * heads * dim.
RecurrentSpec AttentionReader::ReadKda() {
  RecurrentSpec recurrent;
  recurrent.kind = RecurrentKind::kKda;
  std::optional<ConfigFields> config = fields_.Object("linear_attn_config");
  if (!config) {
    fields_.FailMissing("linear_attn_config",
                        "an object with num_heads, head_dim and "
                        "short_conv_kernel_size");
    return recurrent;
  }
  recurrent.value_heads = config->RequiredCount({"num_heads"});
  recurrent.key_heads = recurrent.value_heads;
  recurrent.key_dim = config->RequiredCount({"head_dim"});
  recurrent.value_dim = recurrent.key_dim;
  recurrent.conv_kernel = config->RequiredCount({"short_conv_kernel_size"});
  recurrent.conv_channels = 3 * recurrent.value_heads * recurrent.value_dim;
  recurrent.full_rank_gate = config->BoolOr({"use_full_rank_gate"}, false);
  return recurrent;
}

RecurrentSpec AttentionReader::ReadGatedDeltaNet() {
  RecurrentSpec recurrent;
  recurrent.kind = RecurrentKind::kGatedDeltaNet;
  recurrent.key_heads = fields_.RequiredCount({"linear_num_key_heads"});
  recurrent.value_heads = fields_.RequiredCount({"linear_num_value_heads"});
  recurrent.key_dim = fields_.RequiredCount({"linear_key_head_dim"});
  recurrent.value_dim = fields_.RequiredCount({"linear_value_head_dim"});
  recurrent.conv_kernel = fields_.RequiredCount({"linear_conv_kernel_dim"});
  recurrent.conv_channels = 2 * recurrent.key_heads * recurrent.key_dim +
                            recurrent.value_heads * recurrent.value_dim;
  if (recurrent.value_heads % recurrent.key_heads != 0) {
    fields_.Fail("linear_num_value_heads",
                 absl::StrCat("a multiple of linear_num_key_heads (",
                              recurrent.key_heads, ")"));
  }
  return recurrent;
}

CrossAttentionSpec AttentionReader::ReadCross() {
  CrossAttentionSpec cross;
  cross.kv_heads = fields_.RequiredCount(kQueryHeads);
  cross.head_dim = HeadDim(cross.kv_heads);
  return cross;
}

}  // namespace kvsim
