// What decides vLLM's scheduling and caching: its flags and named behaviours.
//
// Model:      flags carry the engine's spelling and its defaults; behaviours that
//             changed between versions are switches whose defaults are those of
//             vLLM's main of 2026-08-17.
// Units:      tokens, blocks, bytes of one rank, as the names say.
// Errors:     Validate() names the flag, its value and what is accepted.
// Source:     vllm/v1/core/sched/scheduler.py, vllm/config (2026-08-17).
#ifndef KVSIM_ENGINES_VLLM_SETTINGS_H_
#define KVSIM_ENGINES_VLLM_SETTINGS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "allocator/block_pool.h"

namespace kvsim::vllm {

enum class SchedulingPolicy : uint8_t { kFcfs, kPriority };

enum class SpeculativeMethod : uint8_t {
  kEagle,  // EAGLE, MTP, draft model: drafts need slots, hits drop a block
  kNgram,  // drafts come from the prompt: no lookahead slots
};

// How the bytes of a block divide. The defaults count rows instead of bytes.
struct BlockGeometry {
  int64_t pool_bytes = 0;    // given to the pool; 0: num_gpu_blocks blocks
  int64_t row_bytes = 1;     // one token in all layers of the group
  int64_t page_padding = 0;  // bytes per block beyond rows
  int64_t slot_padding = 0;  // bytes per block that no layer uses
};

struct Settings {
  int64_t num_gpu_blocks = 0;  // --num-gpu-blocks-override; includes block 0
  int64_t block_size = 16;     // tokens per block (times dcp)
  int64_t max_num_seqs = 128;
  int64_t max_num_batched_tokens = 2048;
  int64_t max_model_len = 131072;
  bool enable_prefix_caching = true;
  bool enable_chunked_prefill = true;
  bool async_scheduling = false;
  SchedulingPolicy policy = SchedulingPolicy::kFcfs;
  double watermark = 0.0;  // share of the blocks kept free at admission
  int64_t long_prefill_token_threshold = 0;  // 0: no limit
  int64_t num_speculative_tokens = 0;
  SpeculativeMethod speculative_method = SpeculativeMethod::kEagle;

  // --- behaviours ------------------------------------------------------------
  // The whole prompt must fit before its first chunk is admitted (2026-03-24).
  bool reserve_full_sequence = true;
  FreeOrder free_order = FreeOrder::kPrependUnkeyed;

  // Remember why the head of the queue was refused (speed only; decisions are
  // the same without).
  bool remember_refusal = true;

  BlockGeometry geometry;

  absl::Status Validate() const;

  // --- derived -------------------------------------------------------------------
  bool DropsLastHit() const {
    return num_speculative_tokens > 0 &&
           speculative_method == SpeculativeMethod::kEagle;
  }
  int64_t LookaheadTokens() const {
    return DropsLastHit() ? num_speculative_tokens : 0;
  }
  int64_t WatermarkBlocks() const {
    return static_cast<int64_t>(watermark *
                                static_cast<double>(num_gpu_blocks));
  }
  int64_t BlockBytes() const {
    return geometry.row_bytes * block_size + geometry.page_padding +
           geometry.slot_padding;
  }
};

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_SETTINGS_H_
