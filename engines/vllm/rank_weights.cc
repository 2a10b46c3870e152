#include "engines/vllm/rank_weights.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "models/dtype.h"
#include "models/parameter_count.h"

namespace kvsim::vllm {
namespace {

// Bytes of a model by where ranks keep them.
struct WeightParts {
  double embedding = 0;
  double head = 0;
  double tower = 0;
  double body = 0;    // of all layers
  double copies = 0;  // what the ranks of a stage hold beyond one copy
};

// Weights of an attention layer that every tensor rank keeps whole.
double WholeWeights(const AttentionSpec& a, double hidden) {
  const auto width = [](int64_t value) { return static_cast<double>(value); };
  const double query_input = a.q_lora_rank > 0 ? width(a.q_lora_rank) : hidden;
  double whole = 0;
  if (a.kind == AttentionKind::kMla) {
    whole += hidden * width(a.kv_lora_rank + a.qk_rope_head_dim);
  }
  if (a.kind == AttentionKind::kCompressed) {
    const double compressors =
        a.compress_ratio == 0 ? 0 : (a.compress_ratio == 4 ? 4 : 2);
    whole += hidden * width(a.head_dim) * (1 + compressors);
  }
  if (whole > 0) whole += hidden * width(a.q_lora_rank);
  if (a.indexer.kind == IndexerKind::kFull) {
    whole += query_input * width(a.indexer.query_heads * a.indexer.head_dim) +
             hidden * width(a.indexer.query_heads + a.indexer.head_dim);
  }
  return whole;
}

// Weights held beyond one copy by all tensor ranks together.
double CopiedWeights(const AttentionSpec& a, double hidden, double ranks) {
  const double copied = WholeWeights(a, hidden) * (ranks - 1);
  const bool latent =
      a.kind == AttentionKind::kMla || a.kind == AttentionKind::kCompressed;
  const auto heads = static_cast<double>(a.kv_heads);
  if (latent || a.kv_sharing_target >= 0 || heads == 0 || ranks <= heads) {
    return copied;
  }
  const double row =
      static_cast<double>(a.kv_heads * (a.head_dim + a.head_dim_v));
  return copied + hidden * row * (ranks / heads - 1);
}

// Rows of MXFP4 experts as the kernels want them, over rows as stored.
double ExpertPadding(const ModelSpec& model, int64_t ranks) {
  constexpr int64_t kRows = 256;
  if (model.quantization.expert_dtype != DType::kFp4) return 1;
  for (const LayerSpec& layer : model.layers) {
    const int64_t rows = layer.ffn.expert_intermediate;
    if (rows == 0) continue;
    const int64_t padded = RoundUp(CeilDiv(rows, ranks), kRows);
    return static_cast<double>(padded * ranks) / static_cast<double>(rows);
  }
  return 1;
}

WeightParts CountParts(const ModelSpec& model, int64_t ranks, bool mtp_layers) {
  const ParameterCount count = CountParameters(model, mtp_layers);
  const double plain = BytesPerWeight(model.dtype);
  WeightParts parts;
  parts.embedding = static_cast<double>(count.embedding) * plain;
  parts.head = static_cast<double>(count.head) * plain;
  parts.body = static_cast<double>(WeightBytes(model, mtp_layers)) -
               parts.embedding - parts.head;
  parts.tower = static_cast<double>(model.tower_weights) * plain;
  const auto hidden = static_cast<double>(model.hidden_size);
  const auto tensor = static_cast<double>(ranks);
  for (const LayerSpec& layer : model.layers) {
    for (const AttentionSpec& attention : layer.attention) {
      parts.copies += CopiedWeights(attention, hidden, tensor) *
                      BytesPerWeight(model.quantization.weight_dtype);
    }
  }
  parts.copies +=
      static_cast<double>(count.norms_and_routers) * plain * (tensor - 1);
  parts.copies += static_cast<double>(count.routed_experts) *
                  BytesPerWeight(model.quantization.expert_dtype) *
                  (ExpertPadding(model, ranks) - 1);
  return parts;
}

void Scale(double bytes, WeightParts& parts) {
  const double counted =
      parts.body + parts.embedding + parts.head + parts.tower;
  const double scale = bytes / std::max(counted, 1.0);
  parts.embedding *= scale;
  parts.head *= scale;
  parts.tower *= scale;
  parts.body *= scale;
}

}  // namespace

std::vector<Bytes> RankWeights(const ModelSpec& model,
                               const ParallelPlan& parallel,
                               const std::vector<int64_t>& stages,
                               std::optional<Bytes> given, bool mtp_layers) {
  WeightParts parts = CountParts(model, parallel.tensor, mtp_layers);
  if (given.has_value()) {
    Scale(static_cast<double>(given->value()), parts);
    parts.copies = 0;
  } else if (model.checkpoint_bytes > 0) {
    Scale(static_cast<double>(model.checkpoint_bytes), parts);
  }
  if (parts.head == 0 && stages.size() > 1) parts.head = parts.embedding;
  std::vector<Bytes> weights;
  for (size_t i = 0; i < stages.size(); ++i) {
    double stage = (parts.body + parts.copies) *
                   static_cast<double>(stages[i]) /
                   static_cast<double>(model.layers.size());
    if (i == 0) stage += parts.embedding + parts.tower;
    if (i + 1 == stages.size()) stage += parts.head;
    weights.push_back(Bytes(
        static_cast<int64_t>(stage / static_cast<double>(parallel.tensor))));
  }
  return weights;
}

}  // namespace kvsim::vllm
