// KvCacheDtype: the cache formats an engine's --kv-cache-dtype names.
//
// A format is more than a DType: it also says where scales live. Dense rows
// (h heads of d) take, per head and per K or V:
//   bf16/fp16 2d, fp8 d (scales are per layer, outside the pages),
//   *_per_token_head d + 4 or d/2 + 4, nvfp4 d/2 + d/16.
// MLA rows (r latent + p rope) take 2(r+p), fp8 r+p, per-token-head r+p+8,
// fp8_ds_mla r + 4*ceil(r/128) + 2p; nvfp4 and int4 do not exist for MLA.
// llama.cpp's block formats take 32-element blocks of any row whose width 32
// divides.
// Source: vLLM's backends as of 2026-08; ggml's block types.

#ifndef KVSIM_MODELS_KV_CACHE_DTYPE_H_
#define KVSIM_MODELS_KV_CACHE_DTYPE_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/dtype.h"

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
  kInt8,  // one scale per layer, outside the pages, as for fp8
  kInt4,
  // llama.cpp's blocks of 32 elements, each with its scales (and, for 5 bits,
  // its fifth bits): 34, 18, 20, 22, 24 and 18 bytes.
  kQ8_0,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kIq4Nl,
};

// "auto", "bfloat16", "bf16", "float16", "half", "fp8", "fp8_e4m3",
// "fp8_e5m2", "fp8_inc", "fp8_ds_mla", "int8_per_token_head", ...; the Status
// of an unknown one lists them.
absl::StatusOr<KvCacheDtype> ParseKvCacheDtype(absl::string_view text);

absl::string_view Name(KvCacheDtype dtype);

// How one of llama.cpp's formats stores kBlockElements elements: the type its
// elements are counted in, and the bytes a block takes beside them.
struct BlockFormat {
  DType element = DType::kInt8;
  int64_t extra_bytes = 0;
};
inline constexpr int64_t kBlockElements = 32;

// nullopt for every other format.
std::optional<BlockFormat> BlockFormatOf(KvCacheDtype dtype);

}  // namespace kvsim

#endif  // KVSIM_MODELS_KV_CACHE_DTYPE_H_
