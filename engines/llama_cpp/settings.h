// What decides llama.cpp's caches: its flags and named behaviours.
//
// Model:   flags carry llama-server's meaning and defaults. The size of every
//          cache follows from them and the model alone; memory only decides
//          whether the start succeeds.
// Units:   tokens, sequences, cells.
// Errors:  Validate() names the flag, its value and what is accepted.
// Source:  common/arg.cpp, src/llama-context.cpp, src/llama-kv-cache*.cpp of
//          2025-08 to 2026-08.

#ifndef KVSIM_ENGINES_LLAMA_CPP_SETTINGS_H_
#define KVSIM_ENGINES_LLAMA_CPP_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kvsim::llama_cpp {

// -ctk, -ctv. Blocks of 32 elements take 34, 18, 20, 22, 24 and 18 bytes.
enum class CacheType {
  kF32,
  kF16,
  kBf16,
  kQ8_0,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kIq4Nl
};
absl::StatusOr<CacheType> ParseCacheType(absl::string_view text);
absl::string_view Name(CacheType type);
// Bytes of `elements` numbers. REQUIRES: blocks fill them.
int64_t BytesOf(CacheType type, int64_t elements);
// Elements that are stored together: 32, or 1.
int64_t BlockElements(CacheType type);

enum class FlashAttention { kAuto, kOn, kOff };

struct Settings {
  int64_t ctx_size = 0;       // -c; 0: as the model was trained
  int64_t batch_size = 2048;  // -b
  int64_t ubatch_size = 512;  // -ub
  int64_t parallel = 1;       // -np: sequences
  bool kv_unified = false;    // one stream for all sequences
  CacheType cache_type_k = CacheType::kF16;
  CacheType cache_type_v = CacheType::kF16;
  FlashAttention flash_attn = FlashAttention::kAuto;
  bool swa_full = false;              // window layers keep whole contexts
  std::optional<int64_t> gpu_layers;  // -ngl; none: all
  bool kv_offload = true;             // -nkvo: caches stay with the host

  // A drafter's tokens (--draft-max). A model with MTP layers drafts with them
  // unless -md names another model.
  int64_t draft_max = 0;
  std::string draft_model;
  int64_t draft_ctx_size = 0;  // -cd; 0: as the target's
  CacheType draft_type_k = CacheType::kF16;
  CacheType draft_type_v = CacheType::kF16;

  // Builds of the time before an encoder's caches were left out allocate them.
  bool encoders_keep_rows = true;

  absl::Status Validate() const;
};

}  // namespace kvsim::llama_cpp

#endif  // KVSIM_ENGINES_LLAMA_CPP_SETTINGS_H_
