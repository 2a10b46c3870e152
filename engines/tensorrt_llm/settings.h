// What decides TensorRT-LLM's block pools: its flags.
//
// Model:   flags carry the spelling of trtllm-serve and of KvCacheConfig, with
//          their defaults.
// Evidence: single files of its sources of unknown date and two start-up logs;
//          weaker than for the other engines.
// Errors:  Validate() names the flag, its value and what is accepted.

#ifndef KVSIM_ENGINES_TENSORRT_LLM_SETTINGS_H_
#define KVSIM_ENGINES_TENSORRT_LLM_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/units.h"

namespace kvsim::tensorrt_llm {

// kv_cache_config.dtype. nvfp4 has one fp8 scale per 16 elements.
enum class CacheType { kAuto, kBf16, kFp8, kInt8, kNvfp4 };
absl::StatusOr<CacheType> ParseCacheType(absl::string_view text);
absl::string_view Name(CacheType type);

struct Settings {
  int64_t tp_size = 1;
  int64_t pp_size = 1;
  bool enable_attention_dp = false;  // every rank keeps all heads
  CacheType kv_cache_dtype = CacheType::kAuto;
  int64_t tokens_per_block = 32;          // a power of two
  double free_gpu_memory_fraction = 0.9;  // of what is free after loading
  std::optional<int64_t> max_tokens;      // an upper limit
  std::optional<int64_t> max_seq_len;     // none: the model's
  int64_t max_batch_size = 2048;
  int64_t max_num_tokens = 8192;
  std::vector<int64_t> max_attention_window;  // repeated over the layers
  // Shares of memory for the windows, widest last; empty: equal ones.
  std::vector<double> window_size_shares;
  Bytes host_cache_size{0};
  bool enable_block_reuse = true;
  bool speculative = false;  // the model's own MTP layers draft

  absl::Status Validate() const;
  // Ranks that share the heads of attention.
  int64_t AttentionRanks() const { return enable_attention_dp ? 1 : tp_size; }
};

}  // namespace kvsim::tensorrt_llm

#endif  // KVSIM_ENGINES_TENSORRT_LLM_SETTINGS_H_
