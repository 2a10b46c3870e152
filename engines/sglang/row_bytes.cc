#include "engines/sglang/row_bytes.h"

#include "absl/strings/match.h"

namespace kvsim::sglang {
namespace {

constexpr int64_t kFp4Group = 16;
constexpr int64_t kMxfp8Group = 32;
constexpr int64_t kFp8Tile = 128;  // latent elements that share an fp32 scale

int64_t BytesOfElements(int64_t elements, CacheType type) {
  switch (type) {
    case CacheType::kFp8:
      return elements;
    case CacheType::kFp4:
      return CeilDiv(elements, 2) + CeilDiv(elements, kFp4Group);
    case CacheType::kMxfp8:
      return elements + CeilDiv(elements, kMxfp8Group);
    case CacheType::kAuto:
    case CacheType::kBf16:
      break;
  }
  return 2 * elements;
}

// A latent row of sparse attention as the fp8 kernels want it.
int64_t PackedLatent(const RankLayer& layer) {
  const int64_t latent = layer.k - layer.rope;
  return latent + CeilDiv(latent, kFp8Tile) * 4 + 2 * layer.rope;
}

bool IsPacked(const RankLayer& layer, CacheType type,
              const Settings& settings) {
  return layer.IsLatent() && layer.index > 0 && type == CacheType::kFp8 &&
         !absl::StrContains(settings.attention_backend, "trtllm");
}

int64_t IndexBytes(const RankLayer& layer, CacheType type) {
  if (layer.index == 0) return 0;
  return layer.index_scale_bytes > 0 ? layer.index + layer.index_scale_bytes
                                     : BytesOfElements(layer.index, type);
}

}  // namespace

CacheType ResolveCacheType(const Settings& settings, const ModelSpec& model) {
  if (settings.kv_cache_dtype != CacheType::kAuto) {
    return settings.kv_cache_dtype;
  }
  return model.quantization.kv_cache_dtype == DType::kFp8 ? CacheType::kFp8
                                                          : CacheType::kBf16;
}

RowBytes StoredRow(const RankLayer& layer, CacheType type,
                   const Settings& settings) {
  RowBytes row;
  row.k =
      Bytes(IsPacked(layer, type, settings) ? PackedLatent(layer)
                                            : BytesOfElements(layer.k, type));
  row.v = Bytes(BytesOfElements(layer.v, type));
  row.index = Bytes(IndexBytes(layer, type));
  return row;
}

Bytes ChargedRow(const RankLayer& layer, CacheType type,
                 const Settings& settings) {
  const RowBytes stored = StoredRow(layer, type, settings);
  if (settings.sparse_charge == SparseCharge::kStoredRow ||
      !IsPacked(layer, type, settings)) {
    return stored.Total();
  }
  return Bytes(layer.k) + stored.index;
}

StateBytes StateOf(const RankLayer& layer, const Settings& settings) {
  const DType dtype = settings.mamba_ssm_dtype.value_or(
      layer.state_dtype.value_or(DType::kFp32));
  return {.conv = Bytes(2 * layer.conv),
          .ssm = Bytes(BytesOf(dtype, layer.state))};
}

}  // namespace kvsim::sglang
