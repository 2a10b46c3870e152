#include "models/parameter_count.h"

#include <algorithm>
#include <cmath>

#include "absl/numeric/int128.h"

namespace kvsim {
namespace {

// A config may claim any sizes up to kMaxDimension, and products of four of
// them leave int64; sums are taken wide and saturate at the end.
using Wide = absl::int128;

struct WideCount {
  Wide attention = 0;
  Wide dense_ffn = 0;
  Wide routed_experts = 0;
  Wide norms_and_routers = 0;
};

// No model has 10^18 weights; six such parts still add up within int64.
constexpr int64_t kMostWeights = 1'000'000'000'000'000'000;

int64_t Saturated(Wide weights) {
  return static_cast<int64_t>(std::min<Wide>(weights, kMostWeights));
}

// Weights of query, key, value and output of per-head attention.
Wide HeadsWeights(const AttentionSpec& a, Wide hidden) {
  const int64_t query = a.query_heads * a.head_dim;
  const int64_t key = a.kv_heads * a.head_dim;
  const int64_t value = a.kv_heads * a.head_dim_v;
  const int64_t output = a.query_heads * a.head_dim_v;
  // A layer that reads another's K and V projects queries only.
  const bool own_kv = a.kv_sharing_target < 0;
  Wide sum = hidden * (output + a.gate_width);
  // Step-3 passes queries through a rank, with a norm.
  sum += a.q_lora_rank > 0
             ? Wide(a.q_lora_rank) * (hidden + query) + a.q_lora_rank
             : hidden * query;
  if (own_kv) {
    sum += hidden * (key + (a.key_equals_value_weights ? 0 : value));
  }
  if (a.query_bias) sum += query;
  if (a.key_value_bias && own_kv) sum += key + value;
  if (a.output_bias) sum += hidden;
  if (a.query_key_norm) sum += 2 * a.head_dim;
  if (a.sink_logits) sum += a.query_heads;
  return sum;
}

Wide LowRankQuery(const AttentionSpec& a, Wide hidden) {
  const Wide width = a.query_heads * a.head_dim;
  if (a.q_lora_rank == 0) return hidden * width;
  return hidden * a.q_lora_rank + a.q_lora_rank + a.q_lora_rank * width;
}

// Queries and head weights of the indexer, its one key and that key's norm.
Wide IndexerWeights(const AttentionSpec& a, Wide hidden, Wide key_input) {
  const IndexerSpec& indexer = a.indexer;
  if (indexer.kind != IndexerKind::kFull) return 0;
  const Wide query_input = a.q_lora_rank > 0 ? Wide(a.q_lora_rank) : hidden;
  return query_input * indexer.query_heads * indexer.head_dim +
         hidden * indexer.query_heads + key_input * indexer.head_dim +
         2 * indexer.head_dim;
}

Wide MlaWeights(const AttentionSpec& a, Wide hidden) {
  const Wide down = hidden * (a.kv_lora_rank + a.qk_rope_head_dim);
  const Wide up = Wide(a.kv_lora_rank) * a.query_heads *
                  (a.qk_nope_head_dim + a.head_dim_v);
  const Wide output = a.query_heads * a.head_dim_v * hidden;
  return LowRankQuery(a, hidden) + down + a.kv_lora_rank + up + output +
         hidden * a.gate_width + IndexerWeights(a, hidden, hidden);
}

// One shared K = V projection, a grouped low-rank output, and for compressed
// layers a value and a score projection (twice as wide where groups overlap).
Wide CompressedWeights(const AttentionSpec& a, Wide hidden) {
  const Wide width = a.query_heads * a.head_dim;
  Wide output = width * hidden;
  if (a.o_lora_rank > 0) {
    output = width * a.o_lora_rank + hidden * a.o_groups * a.o_lora_rank;
  }
  Wide sum = LowRankQuery(a, hidden) + hidden * a.head_dim + output;
  if (a.compress_ratio == 0) return sum;
  const int64_t overlap = a.compress_ratio == 4 ? 2 : 1;
  sum += 2 * overlap * hidden * a.head_dim;
  return sum + IndexerWeights(a, hidden, 2 * overlap * hidden);
}

Wide AttentionWeights(const AttentionSpec& a, Wide hidden) {
  switch (a.kind) {
    case AttentionKind::kMla:
      return MlaWeights(a, hidden);
    case AttentionKind::kCompressed:
      return CompressedWeights(a, hidden);
    default:
      return HeadsWeights(a, hidden) + IndexerWeights(a, hidden, hidden);
  }
}

// KDA: Q, K, V and output; a low-rank decay; beta; a gate of full or low rank.
Wide KdaWeights(const RecurrentSpec& r, Wide hidden) {
  const Wide width = r.value_heads * r.value_dim;
  const Wide low_rank = hidden * r.value_dim + r.value_dim * width;
  return 4 * hidden * width + low_rank + hidden * r.value_heads +
         (r.full_rank_gate ? hidden * width : low_rank) +
         r.conv_channels * r.conv_kernel + width + r.value_heads + r.value_dim;
}

// Q, K, V and gate in one projection, beta and decay in another.
Wide GatedDeltaNetWeights(const RecurrentSpec& r, Wide hidden) {
  const Wide value = r.value_heads * r.value_dim;
  const Wide key = r.key_heads * r.key_dim;
  return hidden * (2 * key + 2 * value) + hidden * 2 * r.value_heads +
         r.conv_channels * r.conv_kernel + 2 * r.value_heads + r.value_dim +
         value * hidden;
}

// Gate and value inputs, B and C, one time step per head; output.
Wide Mamba2Weights(const RecurrentSpec& r, Wide hidden) {
  const Wide inner = r.value_heads * r.value_dim;
  return hidden * (inner + r.conv_channels + r.value_heads) +
         r.conv_channels * (r.conv_kernel + 1) + 3 * r.value_heads + inner +
         inner * hidden;
}

// Mamba-1 projects the time step through a rank of hidden / 16.
Wide Mamba1Weights(const RecurrentSpec& r, Wide hidden) {
  const Wide inner = r.value_heads * r.value_dim;
  const Wide rank = (hidden + 15) / 16;
  return hidden * 2 * inner + r.conv_channels * (r.conv_kernel + 1) +
         inner * (rank + 2 * r.key_dim) + rank * inner + inner +
         inner * r.key_dim + inner + inner * hidden;
}

// Two inputs, an output, the convolution, and two gates in blocks of 256.
Wide RgLruWeights(const RecurrentSpec& r, Wide hidden) {
  constexpr int64_t kGateBlock = 256;
  const Wide width = r.value_heads;
  return 3 * hidden * width + r.conv_channels * (r.conv_kernel + 1) +
         2 * width * kGateBlock + 3 * width;
}

Wide RecurrentWeights(const RecurrentSpec& r, Wide hidden) {
  switch (r.kind) {
    case RecurrentKind::kKda:
      return KdaWeights(r, hidden);
    case RecurrentKind::kGatedDeltaNet:
      return GatedDeltaNetWeights(r, hidden);
    case RecurrentKind::kMamba2:
      return Mamba2Weights(r, hidden);
    case RecurrentKind::kMamba1:
      return Mamba1Weights(r, hidden);
    case RecurrentKind::kLightning:
      // Q, K, V, gate and output.
      return 5 * hidden * r.value_heads * r.value_dim;
    case RecurrentKind::kShortConv:
      return 4 * hidden * r.conv_channels + r.conv_channels * r.conv_kernel;
    case RecurrentKind::kRgLru:
      return RgLruWeights(r, hidden);
    case RecurrentKind::kRwkv7:
      // Receptance, K, V and output; low-rank parts are not counted.
      return 4 * hidden * r.value_heads * r.value_dim;
  }
  return 0;
}

void AddFfn(const FfnSpec& ffn, Wide hidden, WideCount& count) {
  if (ffn.kind == FfnKind::kDense) {
    count.dense_ffn += ffn.matrices * hidden * ffn.intermediate;
  }
  if (ffn.kind != FfnKind::kMoe) return;
  const Wide width = ffn.routed_hidden > 0 ? Wide(ffn.routed_hidden) : hidden;
  Wide expert = ffn.matrices * width * ffn.expert_intermediate;
  if (ffn.expert_bias) {
    expert += (ffn.matrices - 1) * ffn.expert_intermediate + width;
  }
  count.routed_experts += ffn.experts * expert;
  count.dense_ffn += ffn.matrices * hidden * ffn.shared_intermediate;
  // Experts in a width of their own are entered and left by a projection.
  if (ffn.routed_hidden > 0) count.dense_ffn += 2 * hidden * ffn.routed_hidden;
  count.norms_and_routers += hidden * ffn.experts;
  if (ffn.router_bias) count.norms_and_routers += ffn.experts;
  if (ffn.shared_expert_gate) count.norms_and_routers += hidden;
}

void AddLayer(const LayerSpec& layer, Wide hidden, WideCount& count) {
  for (const AttentionSpec& attention : layer.attention) {
    count.attention += AttentionWeights(attention, hidden);
  }
  if (layer.recurrent) {
    count.attention += RecurrentWeights(*layer.recurrent, hidden);
  }
  if (layer.cross) {
    count.attention +=
        4 * hidden * layer.cross->kv_heads * layer.cross->head_dim;
  }
  AddFfn(layer.ffn, hidden, count);
  count.dense_ffn += layer.linear_replacements * hidden * hidden;
  count.norms_and_routers += layer.norms * hidden;
}

}  // namespace

// One scale byte per 32 elements for int4 and mxfp4, one per 16 for nvfp4.
double BytesPerWeight(DType dtype) {
  switch (dtype) {
    case DType::kInt4:
    case DType::kFp4:
      return 0.53125;
    case DType::kNvfp4:
      return 0.5625;
    default:
      return BitsPerElement(dtype) / 8.0;
  }
}

ParameterCount CountParameters(const ModelSpec& spec, bool mtp_layers) {
  WideCount wide;
  const Wide hidden = spec.hidden_size;
  for (const LayerSpec& layer : spec.layers) AddLayer(layer, hidden, wide);
  wide.norms_and_routers += hidden;  // before the head
  if (mtp_layers) {
    for (const LayerSpec& layer : spec.mtp_layers) {
      AddLayer(layer, hidden, wide);
      // Joins the last hidden state with the next token's embedding.
      wide.dense_ffn += 2 * hidden * hidden;
      wide.norms_and_routers += 3 * hidden;
    }
  }
  ParameterCount count;
  count.attention = Saturated(wide.attention);
  count.dense_ffn = Saturated(wide.dense_ffn);
  count.routed_experts = Saturated(wide.routed_experts);
  count.norms_and_routers = Saturated(wide.norms_and_routers);
  count.embedding = spec.vocab_size * spec.hidden_size;
  if (!spec.tie_word_embeddings) count.head = count.embedding;
  return count;
}

int64_t WeightBytes(const ModelSpec& spec, bool mtp_layers) {
  const ParameterCount count = CountParameters(spec, mtp_layers);
  const QuantizationSpec& quantization = spec.quantization;
  const double quantized =
      static_cast<double>(count.attention + count.dense_ffn) *
          BytesPerWeight(quantization.weight_dtype) +
      static_cast<double>(count.routed_experts) *
          BytesPerWeight(quantization.expert_dtype);
  const double plain = static_cast<double>(count.embedding + count.head +
                                           count.norms_and_routers) *
                       BytesPerWeight(spec.dtype);
  return static_cast<int64_t>(std::llround(
      std::min(quantized + plain, static_cast<double>(kMostWeights))));
}

}  // namespace kvsim
