#include "engines/sglang/buffers.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "engines/sglang/row_bytes.h"

namespace kvsim::sglang {
namespace {

constexpr int64_t kPageStep = 576;

CachePool& PoolNamed(const std::string& name, int64_t entries,
                     std::vector<CachePool>& pools) {
  for (CachePool& pool : pools) {
    if (pool.name == name) return pool;
  }
  pools.push_back({.name = name, .entries = entries});
  return pools.back();
}

void AddLayer(int32_t layer, CachePool& pool) {
  if (pool.layers.empty() || pool.layers.back() != layer) {
    pool.layers.push_back(layer);
  }
}

void AddBytes(const std::string& part, Bytes bytes, CachePool& pool) {
  if (bytes == Bytes(0)) return;
  for (PoolPart& existing : pool.parts) {
    if (existing.name == part) {
      existing.bytes += bytes;
      return;
    }
  }
  pool.parts.push_back({part, bytes});
}

void AddRows(const RankLayer& layer, const BudgetInput& input,
             const std::string& name, int64_t tokens,
             std::vector<CachePool>& pools) {
  CachePool& pool = PoolNamed(name, tokens, pools);
  const RowBytes row = StoredRow(layer, input.type, input.settings);
  const int64_t rows = tokens + input.page_size;
  AddLayer(layer.layer, pool);
  AddBytes(layer.IsLatent() ? "KV" : "K", row.k * rows, pool);
  AddBytes("V", row.v * rows, pool);
  AddBytes("index", row.index * rows, pool);
}

void AddStates(const RankLayer& layer, const BudgetInput& input, int64_t slots,
               std::vector<CachePool>& pools) {
  CachePool& pool = PoolNamed("state", slots, pools);
  const StateBytes state = StateOf(layer, input.settings);
  AddLayer(layer.layer, pool);
  AddBytes("conv", state.conv * (slots + 1), pool);
  AddBytes("ssm", state.ssm * (slots + 1), pool);
}

// Tokens that share an entry of the layer's compressed rows; 0: window only.
int64_t RatioOf(const RankLayer& layer) {
  for (const CacheTensor& tensor : layer.compressed) {
    if (tensor.store == CacheStore::kMain) return tensor.tokens_per_entry;
  }
  return 0;
}

void AddCompressedState(const CacheTensor& tensor, const RankLayer& layer,
                        const BudgetInput& input, int64_t window_tokens,
                        std::vector<CachePool>& pools) {
  const int64_t ring = CompressorRing(input.settings);
  const bool follows_window = tensor.retention.window <= ring;
  const int64_t window = layer.compressed[0].retention.window;
  const int64_t rows = follows_window ? window_tokens / window * ring
                                      : CompressorStateRows(input.settings);
  CachePool& pool =
      PoolNamed(absl::StrCat("c", RatioOf(layer), "_state"), rows, pools);
  AddLayer(layer.layer, pool);
  AddBytes("state", tensor.EntryBytes() * rows, pool);
}

void AddCompressed(const RankLayer& layer, const BudgetInput& input,
                   const BufferSizes& sizes, std::vector<CachePool>& pools) {
  for (const CacheTensor& tensor : layer.compressed) {
    if (tensor.store == CacheStore::kCompressorState ||
        tensor.store == CacheStore::kIndexCompressorState) {
      AddCompressedState(tensor, layer, input, sizes.window_tokens, pools);
      continue;
    }
    const bool window = tensor.store == CacheStore::kWindow;
    const int64_t tokens = window ? sizes.window_tokens : sizes.tokens;
    const int64_t ratio = window ? 1 : tensor.tokens_per_entry;
    CachePool& pool = PoolNamed(window ? "swa" : absl::StrCat("c", ratio),
                                tokens / ratio, pools);
    AddLayer(layer.layer, pool);
    AddBytes(
        tensor.store == CacheStore::kIndex ? "index" : "KV",
        PageOf(tensor, input.page_size).padded * (tokens / input.page_size + 1),
        pool);
  }
}

}  // namespace

CompressedPage PageOf(const CacheTensor& tensor, int64_t page_size) {
  const int64_t ratio = std::max<int64_t>(tensor.tokens_per_entry, 1);
  CompressedPage page;
  page.used = tensor.EntryBytes() * std::max<int64_t>(page_size / ratio, 1);
  page.padded = tensor.store == CacheStore::kIndex
                    ? page.used
                    : Bytes(RoundUp(page.used.value(), kPageStep));
  return page;
}

std::vector<CachePool> AllocateBuffers(const BudgetInput& input,
                                       const BufferSizes& sizes) {
  std::vector<CachePool> pools;
  const bool two_pools = HasTwoPools(input);
  for (const RankLayer& layer : input.layers) {
    AddCompressed(layer, input, sizes, pools);
    if (layer.HasState() && !layer.is_draft) {
      AddStates(layer, input, sizes.state_slots, pools);
    }
    if (!layer.HasRows()) continue;
    const bool window = two_pools && layer.IsWindow() && !layer.is_draft;
    AddRows(layer, input,
            layer.is_draft ? "draft"
            : window       ? "swa"
                           : "full",
            window ? sizes.window_tokens : sizes.tokens, pools);
  }
  return pools;
}

}  // namespace kvsim::sglang
