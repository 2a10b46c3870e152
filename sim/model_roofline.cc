#include "sim/model_roofline.h"

#include <algorithm>
#include <optional>

#include "models/dtype.h"
#include "models/parameter_count.h"

namespace kvsim {
namespace {

const FfnSpec* FirstMoe(const ModelSpec& spec) {
  for (const LayerSpec& layer : spec.layers) {
    if (layer.ffn.kind == FfnKind::kMoe) return &layer.ffn;
  }
  return nullptr;
}

// The dtype that most of the multiplications read.
DType WeightDType(const ModelSpec& spec) {
  return FirstMoe(spec) != nullptr ? spec.quantization.expert_dtype
                                   : spec.quantization.weight_dtype;
}

// Operations of one token for each token of its context.
double ContextFlops(const AttentionSpec& attention) {
  const auto heads = static_cast<double>(attention.query_heads);
  const auto widths =
      static_cast<double>(attention.head_dim + attention.head_dim_v);
  const IndexerSpec& indexer = attention.indexer;
  double flops = 0;
  if (indexer.kind == IndexerKind::kFull) {
    flops = 2 * static_cast<double>(indexer.query_heads) *
            static_cast<double>(indexer.head_dim) /
            static_cast<double>(indexer.tokens_per_key);
  }
  switch (attention.kind) {
    case AttentionKind::kFull:
    case AttentionKind::kMla:
      if (indexer.kind == IndexerKind::kNone) flops += 2 * heads * widths;
      break;
    case AttentionKind::kCompressed:
      if (attention.compress_ratio > 0 && indexer.kind == IndexerKind::kNone) {
        flops +=
            2 * heads * widths / static_cast<double>(attention.compress_ratio);
      }
      break;
    default:
      break;
  }
  return flops;
}

}  // namespace

int64_t AttentionBalance(const ModelSpec& spec) {
  double context = 0;
  for (const LayerSpec& layer : spec.layers) {
    for (const AttentionSpec& attention : layer.attention) {
      context += ContextFlops(attention);
    }
  }
  if (context == 0) return 0;
  const double rest = 2 * RooflineModelOf(spec, 1, 0).active_parameters;
  return std::max<int64_t>(1, static_cast<int64_t>(rest / context));
}

RooflineModel RooflineModelOf(const ModelSpec& spec, int64_t tensor_parallel,
                              double kv_bytes_per_token_per_rank) {
  const ParameterCount count = CountParameters(spec);
  const QuantizationSpec& quantization = spec.quantization;
  RooflineModel model;
  const auto routed = static_cast<double>(count.routed_experts);
  model.expert_weight_bytes =
      routed * BytesPerWeight(quantization.expert_dtype);
  // A tied embedding is read as the head.
  const int64_t head = count.head > 0 ? count.head : count.embedding;
  const auto quantized = static_cast<double>(count.attention + count.dense_ffn);
  const auto plain = static_cast<double>(head + count.norms_and_routers);
  model.other_weight_bytes =
      quantized * BytesPerWeight(quantization.weight_dtype) +
      plain * BytesPerWeight(spec.dtype);
  model.active_parameters = quantized + plain;
  if (const FfnSpec* moe = FirstMoe(spec)) {
    model.num_experts = moe->experts;
    model.experts_per_token = moe->experts_per_token;
    model.active_parameters += routed *
                               static_cast<double>(moe->experts_per_token) /
                               static_cast<double>(moe->experts);
  }
  model.num_layers = static_cast<int64_t>(spec.layers.size());
  model.hidden_size = spec.hidden_size;
  model.kv_bytes_per_token_per_rank = kv_bytes_per_token_per_rank;
  model.tensor_parallel = tensor_parallel;
  return model;
}

RooflineGpu RooflineGpuOf(const Gpu& gpu, const ModelSpec& spec) {
  RooflineGpu result;
  result.memory_bytes_per_s = gpu.memory_bandwidth.value_or(0);
  result.link_bytes_per_s = gpu.link_bandwidth.value_or(0);
  std::optional<double> peak = gpu.bf16_flops;
  const DType dtype = WeightDType(spec);
  const bool fp4 = dtype == DType::kFp4 || dtype == DType::kNvfp4;
  if ((fp4 || dtype == DType::kFp8) && gpu.fp8_flops) peak = gpu.fp8_flops;
  if (fp4 && gpu.fp4_flops) peak = gpu.fp4_flops;
  result.peak_flops = peak.value_or(0);
  return result;
}

}  // namespace kvsim
