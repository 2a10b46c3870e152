#include "engines/vllm/spec_builder.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engines/parallel_plan.h"
#include "engines/rank_layers.h"

namespace kvsim::vllm {
namespace {

constexpr Tokens kCompressedBlock{256};  // rows for 4 or 128 tokens
constexpr Tokens kCompressedWindowBlock{64};
constexpr Tokens kMaxBlock{int64_t{1} << 20};
constexpr Tokens kMaxStateBlock{int64_t{1} << 16};
constexpr Bytes kMaxState{int64_t{1} << 40};
constexpr int64_t kLeastHybridMlaBlock = 128;
constexpr Tokens kXpuBlock{64};
constexpr Tokens kAscendBlock{128};

// Tokens of a block, before anything makes pages equal.
struct Blocking {
  Tokens history;
  Tokens window;
};

// The tensors of one layer that are columns of one cache.
using Columns = std::vector<const CacheTensor*>;

std::vector<Columns> ByStore(const LayerCache& layer) {
  std::vector<Columns> caches;
  for (const CacheTensor& tensor : layer.tensors) {
    const auto found =
        std::find_if(caches.begin(), caches.end(), [&](const Columns& columns) {
          return columns[0]->store == tensor.store;
        });
    if (found != caches.end()) {
      found->push_back(&tensor);
    } else {
      caches.push_back({&tensor});
    }
  }
  return caches;
}

absl::Status ShareHeads(const CacheTensor& tensor, int64_t tensor_ranks,
                        KvSpec& spec) {
  const Bytes entry = tensor.EntryBytes();
  if (tensor.shard != ShardAxis::kHeads) {
    spec.row_bytes += entry;
    return absl::OkStatus();
  }
  absl::StatusOr<HeadShare> share = ShardKvHeads(tensor.heads, tensor_ranks);
  if (!share.ok()) return share.status();
  spec.heads = share->heads;
  spec.head_elements += tensor.elements / tensor.heads;
  spec.row_bytes += entry / tensor.heads * share->heads;
  return absl::OkStatus();
}

// The model's layer behind a layer of the layout.
const LayerSpec& SourceLayer(const ModelSpec& model, const LayerCache& layer) {
  const auto index = static_cast<size_t>(layer.layer);
  return layer.is_mtp ? model.mtp_layers[index] : model.layers[index];
}

absl::StatusOr<KvSpec> StateSpec(const Columns& columns,
                                 const RecurrentSpec& recurrent,
                                 int64_t ranks) {
  KvSpec spec;
  spec.kind = SpecKind::kState;
  for (const CacheTensor* tensor : columns) {
    absl::StatusOr<int64_t> heads = SplitHeads(
        tensor->heads, ranks, absl::StrCat("heads of ", tensor->name));
    if (!heads.ok()) return heads.status();
    int64_t elements = tensor->elements;
    if (recurrent.conv_channels > 0 && tensor->name == "conv_state") {
      elements = elements / recurrent.conv_channels *
                 ConvolutionChannels(recurrent, ranks);
    }
    spec.state_bytes += Bytes(BytesOf(tensor->dtype, elements / ranks) +
                              tensor->scale_bytes / ranks);
  }
  if (spec.state_bytes > kMaxState) {
    return absl::InvalidArgumentError(
        absl::StrCat("a recurrent state of ", spec.state_bytes.value(),
                     " bytes a layer is beyond the 2^40 that are planned"));
  }
  return spec;
}

SpecKind KindOf(const CacheTensor& tensor) {
  const bool whole = tensor.shard == ShardAxis::kReplicated;
  if (tensor.source == TokenSource::kEncoder) return SpecKind::kCrossAttention;
  switch (tensor.retention.kind) {
    case RetentionKind::kLastWindow:
      return whole ? SpecKind::kSlidingWindowMla : SpecKind::kSlidingWindow;
    case RetentionKind::kCurrentChunk:
      return SpecKind::kChunkedLocal;
    default:
      return whole ? SpecKind::kMla : SpecKind::kFullAttention;
  }
}

// Blocks of the caches of a layer with compressed attention.
Tokens CompressedBlockTokens(const CacheTensor& tensor) {
  switch (tensor.store) {
    case CacheStore::kWindow:
      return kCompressedWindowBlock;
    case CacheStore::kCompressorState:
    case CacheStore::kIndexCompressorState:
      // Two overlapping groups of 4 tokens in blocks of 4; 128 in blocks of 8.
      return Tokens(tensor.retention.window <= 8 ? 4 : 8);
    default:
      return kCompressedBlock;
  }
}

bool IsCompressed(const LayerCache& layer) {
  return std::any_of(layer.tensors.begin(), layer.tensors.end(),
                     [](const CacheTensor& tensor) {
                       return tensor.store == CacheStore::kWindow;
                     });
}

// Pages of compressed attention start on multiples of 576 B for the packed fp8
// rows, of 512 B for plain ones.
Bytes CompressedAlignment(const LayerCache& layer) {
  return Bytes(layer.tensors[0].dtype == DType::kUint8 ? 576 : 512);
}

// The smallest block of the attention kernels, which windows take whatever
// --block-size says.
Tokens KernelBlock(Platform platform) {
  if (platform == Platform::kAscend) return kAscendBlock;
  return platform == Platform::kXpu ? kXpuBlock : Tokens(16);
}

absl::StatusOr<KvSpec> RowSpec(const LayerCache& layer, const Columns& columns,
                               int64_t ranks, const Blocking& blocking,
                               Tokens encoder_tokens) {
  const CacheTensor& first = *columns[0];
  KvSpec spec;
  spec.kind = KindOf(first);
  spec.tokens_per_row = first.tokens_per_entry;
  spec.window =
      Tokens(spec.kind == SpecKind::kChunkedLocal ? first.retention.chunk
                                                  : first.retention.window);
  spec.block_tokens = spec.kind == SpecKind::kSlidingWindow ? blocking.window
                                                            : blocking.history;
  if (spec.kind == SpecKind::kCrossAttention) spec.window = encoder_tokens;
  // Convolution inputs are packed as a window of one block.
  if (first.store == CacheStore::kShortConv) spec.block_tokens = spec.window;
  if (IsCompressed(layer)) {
    spec.block_tokens = CompressedBlockTokens(first);
    spec.alignment = CompressedAlignment(layer);
  }
  if (first.retention.kind == RetentionKind::kPromptAndLastWindow) {
    spec.window = Tokens(0);  // planned as full history
  }
  for (const CacheTensor* tensor : columns) {
    if (absl::Status status = ShareHeads(*tensor, ranks, spec); !status.ok()) {
      return status;
    }
  }
  return spec;
}

bool IsHistory(const LayerKvSpec& cache) {
  return KeepsAllHistory(cache.spec.kind) && !cache.is_index_key;
}

// The attention block grows until its page holds a state; states are padded to
// that page.
void AlignHybridBlocks(const SpecRules& rules, Tokens chunk, Tokens block,
                       std::vector<LayerKvSpec>& caches) {
  Bytes state(0);
  Bytes row(0);
  bool mla = false;
  for (const LayerKvSpec& cache : caches) {
    state = std::max(state, cache.spec.state_bytes);
    if (!IsHistory(cache)) continue;
    row = std::max(row, cache.spec.row_bytes);
    mla = mla || cache.spec.kind == SpecKind::kMla;
  }
  if (state == Bytes(0) || row == Bytes(0)) return;
  int64_t step =
      mla ? std::max(block.value(), kLeastHybridMlaBlock) : block.value();
  if (rules.state_mode == StateMode::kAll) step = std::lcm(chunk.value(), step);
  Tokens grown(step * CeilDiv(state, row * step));
  if (rules.platform == Platform::kXpu) grown = RoundUp(grown, kXpuBlock);
  for (LayerKvSpec& cache : caches) {
    KvSpec& spec = cache.spec;
    if (spec.kind == SpecKind::kState) {
      spec.padded_page = row * grown.value();
      spec.block_tokens = grown;
    } else if (KeepsAllHistory(spec.kind)) {
      spec.block_tokens = grown;
    }
  }
}

// What states that are kept for every block are aligned to.
Tokens StateChunk(const ModelSpec& model) {
  for (const LayerSpec& layer : model.layers) {
    if (layer.recurrent.has_value()) return Tokens(layer.recurrent->chunk);
  }
  return Tokens(1);
}

// Appends the specs of one layer.
absl::Status AppendLayer(const ModelSpec& model, const CacheLayout& layout,
                         const LayerCache& layer, int64_t ranks,
                         const Blocking& blocking,
                         std::vector<LayerKvSpec>& caches) {
  const auto id = static_cast<int32_t>(
      layer.is_mtp ? layer.layer + static_cast<int32_t>(model.layers.size())
                   : layer.layer);
  const LayerSpec& source = SourceLayer(model, layer);
  for (const Columns& columns : ByStore(layer)) {
    const CacheStore store = columns[0]->store;
    absl::StatusOr<KvSpec> spec =
        store == CacheStore::kRecurrent
            ? StateSpec(columns, *source.recurrent, ranks)
            : RowSpec(layer, columns, ranks, blocking,
                      layout.default_encoder_tokens);
    if (!spec.ok()) return spec.status();
    caches.push_back({id, store == CacheStore::kIndex, *std::move(spec)});
  }
  return absl::OkStatus();
}

}  // namespace

bool CanKeepAllStates(const ModelSpec& model) {
  return std::all_of(model.layers.begin(), model.layers.end(),
                     [](const LayerSpec& layer) {
                       return !layer.recurrent.has_value() ||
                              layer.recurrent->kind == RecurrentKind::kMamba1 ||
                              layer.recurrent->kind == RecurrentKind::kMamba2;
                     });
}

Tokens DefaultBlockTokens(const ModelSpec& model, const SpecRules& rules) {
  bool latent = false;
  for (const LayerSpec& layer : model.layers) {
    for (const AttentionSpec& attention : layer.attention) {
      if (attention.kind == AttentionKind::kCompressed) return kCompressedBlock;
      const IndexerSpec& indexer = attention.indexer;
      // Pooled keys beside K and V are read with attention's own blocks.
      const bool follows = indexer.format == IndexKeyFormat::kCacheDtype &&
                           indexer.tokens_per_key > 1;
      if (indexer.kind != IndexerKind::kNone && !follows) return Tokens(64);
      latent = latent || attention.kind == AttentionKind::kMla;
    }
  }
  if (rules.platform == Platform::kAscend) return kAscendBlock;
  if (rules.platform == Platform::kXpu) return kXpuBlock;
  if (!latent) return Tokens(16);
  if (rules.attention_backend == "FLASHMLA") return Tokens(64);
  if (rules.attention_backend == "CUTLASS_MLA") return Tokens(128);
  if (rules.attention_backend == "FLASHINFER_MLA") return Tokens(32);
  const bool blackwell = rules.sm == 100 || rules.sm == 103;
  return Tokens(rules.attention_backend.empty() && blackwell ? 32 : 16);
}

bool HasRecurrentState(const ModelSpec& model) {
  return std::any_of(
      model.layers.begin(), model.layers.end(),
      [](const LayerSpec& layer) { return layer.recurrent.has_value(); });
}

absl::StatusOr<std::vector<LayerKvSpec>> BuildKvSpecs(const ModelSpec& model,
                                                      const CacheLayout& layout,
                                                      const SpecRules& rules) {
  const Tokens block =
      rules.block_size.value_or(DefaultBlockTokens(model, rules));
  if (block < Tokens(1) || block > kMaxBlock) {
    return absl::InvalidArgumentError(
        absl::StrCat("--block-size ", block.value(), ": must be from 1 to ",
                     kMaxBlock.value()));
  }
  const Tokens chunk = rules.state_block.value_or(StateChunk(model));
  if (rules.state_mode == StateMode::kAll &&
      (chunk < Tokens(1) || chunk > kMaxStateBlock)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--mamba-block-size ", chunk.value(),
                     ": must be from 1 to ", kMaxStateBlock.value()));
  }
  std::vector<LayerKvSpec> caches;
  const Blocking blocking = {block, KernelBlock(rules.platform)};
  const int64_t ranks = rules.platform == Platform::kTpu ? 1 : rules.tensor;
  for (const LayerCache& layer : layout.layers) {
    absl::Status status =
        AppendLayer(model, layout, layer, ranks, blocking, caches);
    if (!status.ok()) return status;
  }
  AlignHybridBlocks(rules, chunk, block, caches);
  return caches;
}

}  // namespace kvsim::vllm
