// What decides SGLang's pools: its flags and named behaviours.
//
// Model:   flags carry the engine's spelling and its defaults; a field without
//          a value is chosen by the engine from the model. Behaviours that
//          changed between versions are switches whose defaults are those of
//          its main of 2026-07-20.
// Units:   tokens, requests, slots, as the names say.
// Errors:  Validate() names the flag, its value and what is accepted.
// Source:  python/sglang/srt/server_args.py.

#ifndef KVSIM_ENGINES_SGLANG_SETTINGS_H_
#define KVSIM_ENGINES_SGLANG_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/dtype.h"

namespace kvsim::sglang {

// --kv-cache-dtype. Scales of fp4 (one byte per 16 elements) and mxfp8 (one per
// 32) are stored beside the rows.
enum class CacheType { kAuto, kBf16, kFp8, kFp4, kMxfp8 };

// "auto", "bf16", "bfloat16", "fp8_e4m3", "fp8_e5m2", "fp4_e2m1", "mxfp8".
absl::StatusOr<CacheType> ParseCacheType(absl::string_view text);
absl::string_view Name(CacheType type);

// --mamba-scheduler-strategy: how states are kept for prefix hits, and so how
// many slots one running request takes while the radix cache is on.
enum class MambaStrategy {
  kNoBuffer,     // 3 slots; pages of one token, no overlapped scheduling
  kExtraBuffer,  // two more that are written in turn: 5, or 4 without overlap
  kExtraBufferLazy,  // one more: 4
};
absl::StatusOr<MambaStrategy> ParseMambaStrategy(absl::string_view text);

// What a token of sparse attention (DSA) with an fp8 cache is charged.
enum class SparseCharge {
  kPlainRow,   // latent and rope part at one byte each, though more is stored
  kStoredRow,  // what is stored
};

struct Settings {
  int64_t tp_size = 1;
  int64_t pp_size = 1;
  int64_t dp_size = 1;
  bool enable_dp_attention = false;  // attention ranks: tp_size / dp_size
  int64_t dcp_size = 1;

  CacheType kv_cache_dtype = CacheType::kAuto;
  std::string attention_backend;     // "": chosen by the engine
  std::optional<int64_t> page_size;  // none: by backend and model
  std::optional<int64_t> context_length;
  std::optional<int64_t> max_total_tokens;
  std::optional<int64_t> max_running_requests;
  std::optional<int64_t> chunked_prefill_size;
  std::optional<double> mem_fraction_static;
  bool disable_radix_cache = false;
  bool disable_overlap_schedule = false;

  // none: 0.8; 0.1 for compressed attention.
  std::optional<double> swa_full_tokens_ratio;
  bool disable_hybrid_swa_memory = false;

  double mamba_full_memory_ratio = 0.9;
  std::optional<int64_t> max_mamba_cache_size;
  MambaStrategy mamba_scheduler_strategy = MambaStrategy::kExtraBuffer;
  std::optional<DType> mamba_ssm_dtype;  // none: the config's, else fp32

  // The model's own MTP layers draft (EAGLE, EAGLE3, NEXTN, MTP).
  bool speculative = false;
  std::string speculative_draft_model_path;

  SparseCharge sparse_charge = SparseCharge::kPlainRow;

  absl::Status Validate() const;

  // Ranks that share the heads of attention.
  int64_t AttentionRanks() const {
    return enable_dp_attention ? tp_size / dp_size : tp_size;
  }
  // State slots that one running request takes.
  int64_t SlotsPerRequest() const;
};

}  // namespace kvsim::sglang

#endif  // KVSIM_ENGINES_SGLANG_SETTINGS_H_
