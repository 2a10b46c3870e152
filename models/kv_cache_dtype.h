// KvCacheDtype: the cache formats an engine's --kv-cache-dtype names.
//
// A format is more than a DType: it also says where scales live. Dense rows
// (h heads of d) take, per head and per K or V:
//   bf16/fp16 2d, fp8 d (scales are per layer, outside the pages),
//   *_per_token_head d + 4 or d/2 + 4, nvfp4 d/2 + d/16.
// MLA rows (r latent + p rope) take 2(r+p), fp8 r+p, per-token-head r+p+8,
// fp8_ds_mla r + 4*ceil(r/128) + 2p; nvfp4 and int4 do not exist for MLA.
// Source: vLLM's backends as of 2026-08.

#ifndef KVSIM_MODELS_KV_CACHE_DTYPE_H_
#define KVSIM_MODELS_KV_CACHE_DTYPE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kvsim {

enum class KvCacheDtype : uint8_t {
  kAuto,  // the checkpoint's KV record, else the model's dtype
  kBf16,
  kFp16,
  kFp32,
  kFp8,
  kFp8DsMla,  // MLA and V4: fp8 with scales, rope part in bf16
  kInt8PerTokenHead,
  kFp8PerTokenHead,
  kInt4PerTokenHead,
  kNvfp4,
};

// "auto", "bfloat16", "bf16", "float16", "half", "fp8", "fp8_e4m3",
// "fp8_e5m2", "fp8_inc", "fp8_ds_mla", "int8_per_token_head", ...; the Status
// of an unknown one lists them.
absl::StatusOr<KvCacheDtype> ParseKvCacheDtype(absl::string_view text);

absl::string_view Name(KvCacheDtype dtype);

}  // namespace kvsim

#endif  // KVSIM_MODELS_KV_CACHE_DTYPE_H_
