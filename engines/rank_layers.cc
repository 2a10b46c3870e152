#include "engines/rank_layers.h"

#include <algorithm>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "engines/parallel_plan.h"
#include "models/layout_builder.h"

namespace kvsim {
namespace {

bool IsCompressed(const LayerSpec& layer) {
  return std::any_of(layer.attention.begin(), layer.attention.end(),
                     [](const AttentionSpec& attention) {
                       return attention.kind == AttentionKind::kCompressed;
                     });
}

// A copy whose encoder-only layers keep rows like any other.
ModelSpec WithEncoderRows(ModelSpec model) {
  for (LayerSpec& layer : model.layers) {
    for (AttentionSpec& attention : layer.attention) {
      if (attention.kind == AttentionKind::kEncoderOnly) {
        attention.kind = AttentionKind::kFull;
      }
    }
  }
  return model;
}

absl::StatusOr<int64_t> HeadsOnRank(int64_t heads, const RankRules& rules) {
  if (rules.heads_round_up) return CeilDiv(heads, rules.tensor);
  absl::StatusOr<HeadShare> share = ShardKvHeads(heads, rules.tensor);
  if (!share.ok()) return share.status();
  return share->heads;
}

absl::Status AddState(const CacheTensor& tensor, const RecurrentSpec& recurrent,
                      int64_t ranks, RankLayer& rank_layer) {
  const absl::StatusOr<int64_t> heads =
      SplitHeads(tensor.heads, ranks, absl::StrCat("heads of ", tensor.name));
  if (!heads.ok()) return heads.status();
  if (tensor.name == "conv_state") {
    rank_layer.conv += tensor.elements / recurrent.conv_channels *
                       ConvolutionChannels(recurrent, ranks) / ranks;
  } else {
    rank_layer.state += tensor.elements / ranks;
  }
  return absl::OkStatus();
}

// K, V or cross rows of the heads that this rank has.
absl::Status AddHeads(const CacheTensor& tensor, const RankRules& rules,
                      RankLayer& rank_layer) {
  const absl::StatusOr<int64_t> heads = HeadsOnRank(tensor.heads, rules);
  if (!heads.ok()) return heads.status();
  const int64_t elements = tensor.elements / tensor.heads * *heads;
  if (tensor.store == CacheStore::kCross) {
    rank_layer.cross += elements;
  } else if (tensor.store == CacheStore::kShortConv) {
    // A row for each of the last tokens: a constant of the sequence.
    rank_layer.conv += elements * tensor.retention.window;
  } else if (tensor.name == "v") {
    rank_layer.v += elements;
  } else {
    rank_layer.k += elements;
    rank_layer.kv_heads += *heads;
    rank_layer.retention = tensor.retention;
  }
  return absl::OkStatus();
}

void AddWholeRow(const CacheTensor& tensor, RankLayer& rank_layer) {
  if (tensor.name == "index_key") {
    rank_layer.index += tensor.elements;
  } else if (tensor.name == "index_scale") {
    rank_layer.index_scale_bytes += tensor.EntryBytes().value();
  } else {
    rank_layer.k += tensor.elements;
    if (tensor.name == "rope_key") rank_layer.rope += tensor.elements;
  }
}

absl::Status AddTensor(const CacheTensor& tensor, const LayerSpec& source,
                       const RankRules& rules, RankLayer& rank_layer) {
  if (tensor.store == CacheStore::kRecurrent) {
    return AddState(tensor, *source.recurrent, rules.tensor, rank_layer);
  }
  if (tensor.shard == ShardAxis::kHeads) {
    return AddHeads(tensor, rules, rank_layer);
  }
  AddWholeRow(tensor, rank_layer);
  return absl::OkStatus();
}

absl::StatusOr<RankLayer> OneLayer(const ModelSpec& model,
                                   const LayerCache& layer,
                                   const RankRules& rules) {
  const auto index = static_cast<size_t>(layer.layer);
  const LayerSpec& source =
      layer.is_mtp ? model.mtp_layers[index] : model.layers[index];
  RankLayer rank_layer;
  rank_layer.is_draft = layer.is_mtp;
  rank_layer.layer =
      layer.layer +
      (layer.is_mtp ? static_cast<int32_t>(model.layers.size()) : 0);
  if (source.recurrent) rank_layer.state_dtype = source.recurrent->state_dtype;
  if (IsCompressed(source)) {
    rank_layer.compressed = layer.tensors;
    return rank_layer;
  }
  for (const CacheTensor& tensor : layer.tensors) {
    absl::Status status = AddTensor(tensor, source, rules, rank_layer);
    if (!status.ok()) return status;
  }
  return rank_layer;
}

}  // namespace

int64_t ConvolutionChannels(const RecurrentSpec& recurrent, int64_t ranks) {
  if (recurrent.kind != RecurrentKind::kMamba2 ||
      recurrent.groups % ranks == 0) {
    return recurrent.conv_channels;
  }
  const int64_t inner = recurrent.value_heads * recurrent.value_dim;
  return inner + 2 * ranks * recurrent.key_dim;
}

absl::StatusOr<std::vector<RankLayer>> LayersOnRank(const ModelSpec& model,
                                                    const RankRules& rules) {
  const bool compressed =
      std::any_of(model.layers.begin(), model.layers.end(), IsCompressed);
  LayoutOptions options;
  // Elements are the same in every format; compressed rows are packed in one.
  options.kv_cache_dtype =
      compressed ? KvCacheDtype::kAuto : KvCacheDtype::kBf16;
  options.index_keys_on_shared_layers = rules.index_keys_on_shared_layers;
  options.mtp_layers = rules.mtp_layers;
  const absl::StatusOr<CacheLayout> layout = BuildCacheLayout(
      rules.encoders_keep_rows ? WithEncoderRows(model) : model, options);
  if (!layout.ok()) return layout.status();
  std::vector<RankLayer> layers;
  for (const LayerCache& layer : layout->layers) {
    absl::StatusOr<RankLayer> rank_layer = OneLayer(model, layer, rules);
    if (!rank_layer.ok()) return rank_layer.status();
    layers.push_back(*std::move(rank_layer));
  }
  return layers;
}

absl::Status CheckCacheSize(const std::vector<RankLayer>& layers,
                            int64_t tokens, int64_t sequences) {
  constexpr int64_t kWidest = 4;  // bytes of an element in the widest format
  constexpr absl::int128 kMost = absl::int128(1) << 62;
  absl::int128 row = 0;
  absl::int128 state = 0;
  for (const RankLayer& layer : layers) {
    row += absl::int128(layer.k + layer.v + layer.index) * kWidest +
           layer.index_scale_bytes;
    state += absl::int128(layer.conv + layer.state) * kWidest;
    for (const CacheTensor& tensor : layer.compressed) {
      row += tensor.PaddedEntryBytes().value();
    }
  }
  if (row * tokens + state * sequences <= kMost) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("caches of ", tokens, " tokens and ", sequences,
                   " sequences could take more than 2^62 bytes"));
}

std::vector<RankLayer> Select(const std::vector<RankLayer>& layers,
                              RankLayerKind kind, bool drafts) {
  std::vector<RankLayer> selected;
  for (const RankLayer& layer : layers) {
    if (layer.is_draft != drafts) continue;
    const bool wanted = kind == RankLayerKind::kState ? layer.HasState()
                        : kind == RankLayerKind::kWindow
                            ? layer.HasRows() && layer.IsWindow()
                            : layer.HasRows() && !layer.IsWindow();
    if (wanted) selected.push_back(layer);
  }
  return selected;
}

}  // namespace kvsim
