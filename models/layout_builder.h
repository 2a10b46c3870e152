// BuildCacheLayout: from what a config says to what each layer stores.
//
// The default is what vLLM stores (2026-08): K/V in the model's dtype or the
// checkpoint's KV record, 576-wide MLA latents whether rotated or not, one
// 132-byte index key per token on layers with a full indexer, fp32 KDA states,
// 584-byte DeepSeek V4 rows in pages aligned to 576 bytes. `as_article` takes
// ModelSpec::article instead: no scales, no padding, no compressor state.

#ifndef KVSIM_MODELS_LAYOUT_BUILDER_H_
#define KVSIM_MODELS_LAYOUT_BUILDER_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "models/cache_layout.h"
#include "models/kv_cache_dtype.h"
#include "models/model_spec.h"

namespace kvsim {

struct LayoutOptions {
  KvCacheDtype kv_cache_dtype = KvCacheDtype::kAuto;
  // Index keys in kFp8 (132 B), kFp4 (68 B), kBf16 or kFp16 (256 B, no scale),
  // kFp32 or kInt8 (no scale). Default: fp8, or the cache's own where the
  // family keeps them so (MiniMax-M3).
  std::optional<DType> index_key_dtype;
  // Index keys per token; engines store one, whatever index_n_heads says.
  std::optional<int64_t> index_key_heads;
  // Index keys also on layers whose indexer is shared (SGLang).
  bool index_keys_on_shared_layers = false;
  // Recurrent state's dtype (--mamba-ssm-cache-dtype); KDA too when given.
  std::optional<DType> state_dtype;
  // Convolution states' dtype (--mamba-cache-dtype); recurrent states follow
  // it where neither `state_dtype` nor the config names theirs. KDA's do not.
  std::optional<DType> conv_state_dtype;
  // Extra convolution rows for speculative decoding.
  int64_t speculative_tokens = 0;
  bool as_article = false;
  // Multi-token-prediction layers too; engines load them only when asked.
  bool mtp_layers = false;
};

// The layout of one sequence. Errors name the option or layer: a cache format
// the attention kind does not have, a size beyond int64.
absl::StatusOr<CacheLayout> BuildCacheLayout(const ModelSpec& spec,
                                             const LayoutOptions& options);

}  // namespace kvsim

#endif  // KVSIM_MODELS_LAYOUT_BUILDER_H_
