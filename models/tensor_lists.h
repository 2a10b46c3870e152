// The cache tensors of one attention or recurrent part, by kind.
//
// This is the one place that knows row formats: which columns a row has, how
// each is encoded, how much a page's alignment adds.
// Source: vLLM 2026-08 (kv_cache_interface, mla_attention, deepseek_v4,
// mamba_utils); the first article for V4 rows without scales.

#ifndef KVSIM_MODELS_TENSOR_LISTS_H_
#define KVSIM_MODELS_TENSOR_LISTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "models/cache_layout.h"
#include "models/dtype.h"
#include "models/kv_cache_dtype.h"
#include "models/model_spec.h"

namespace kvsim {

// LayoutOptions resolved for one model: nothing left to look up.
struct RowFormats {
  KvCacheDtype cache = KvCacheDtype::kBf16;  // never kAuto
  // V4 rows where the caller left the format open; see layout_builder.cc.
  KvCacheDtype compressed_cache = KvCacheDtype::kFp8DsMla;
  DType index_key = DType::kFp8;
  // Set where the caller chose; then also keys that follow the cache's dtype.
  bool index_key_chosen = false;
  int64_t index_key_heads = 1;
  bool index_keys_on_shared_layers = false;
  DType conv_state = DType::kBf16;
  DType recurrent_state = DType::kBf16;
  DType kda_state = DType::kFp32;
  int64_t speculative_tokens = 0;
  // Payload only: no scales, no padding, no compressor state, no unrotated
  // rope part, as the articles count.
  bool payload_only = false;
  bool recurrent_states = true;
};

using TensorList = std::vector<CacheTensor>;

// Errors: a cache format this kind of attention does not have.
absl::StatusOr<TensorList> AttentionTensors(const AttentionSpec& attention,
                                            const RowFormats& formats);

TensorList RecurrentTensors(const RecurrentSpec& recurrent,
                            const RowFormats& formats);

absl::StatusOr<TensorList> CrossAttentionTensors(
    const CrossAttentionSpec& cross, const RowFormats& formats);

}  // namespace kvsim

#endif  // KVSIM_MODELS_TENSOR_LISTS_H_
