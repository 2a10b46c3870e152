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
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/block_pool.h"
#include "engines/vllm/cache_group.h"
#include "engines/vllm/checkpoint_policy.h"
#include "engines/vllm/retention.h"

namespace kvsim::vllm {

enum class SchedulingPolicy : uint8_t { kFcfs, kPriority };

enum class SpeculativeMethod : uint8_t {
  kEagle,  // EAGLE, MTP, draft model: drafts need slots, hits drop a block
  kNgram,  // drafts come from the prompt: no lookahead slots
};

// What happens to the rows of a request that gives up its blocks.
enum class PreemptionMode : uint8_t {
  kRecompute,  // dropped, and computed again
  kSwap,       // kept in host memory, where that has room
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
  // VLLM_PREFIX_CACHE_RETENTION_INTERVAL: nothing is dense (engines/vllm/retention.h).
  std::optional<int64_t> retention_interval = 0;
  std::optional<int64_t> prefix_match_unit;  // tokens; nothing: whole blocks
  // Where states and window tails are kept instead of at the retention interval;
  // nothing: as the engine does.
  std::optional<CheckpointPolicy> checkpoints;
  // Context at which attending to it costs as much as the rest of a token does: what
  // recompute is weighed with (checkpoints by value). 0: attention is not counted.
  int64_t attention_balance = 0;

  // What the model's layers are grouped into; empty: one group of full attention
  // with blocks of block_size tokens and the bytes of `geometry`.
  std::vector<CacheGroup> groups;
  BlockGeometry geometry;
  int64_t pool_bytes = 0;  // given to the pool; 0: what the blocks fill
  // Scheduled and not yet computed, at most; 0: one batch, or two when scheduling
  // is asynchronous.
  int64_t max_tokens_in_flight = 0;

  // --- behaviours ------------------------------------------------------------
  // The whole prompt must fit before its first chunk is admitted (2026-03-24).
  bool reserve_full_sequence = true;
  FreeOrder free_order = FreeOrder::kPrependUnkeyed;
  // At the gate a window or chunk counts what it may hold at once, not the whole
  // prompt (2026-04-27).
  bool window_admission_cap = true;
  // Windows and states get keys only where a hit can end (2026-06-02).
  bool sparse_keys = true;
  // Blocks behind a window go when the tokens before them are computed, not when
  // they are scheduled (2026-07-08).
  bool free_on_processed = true;
  // Prefixes that end inside a block can be hit; of one context-parallel rank only
  // (2026-07-12).
  bool partial_hits = true;
  // A prefix that only some groups have is kept for the next sibling (2026-07-13).
  bool junctions = true;
  // A state keyed in this step is not hit before the next (2026-02-10).
  bool same_step_state_guard = true;
  // Chunks that start inside a block end at its boundary (2026-08-06).
  bool realign_chunks = true;
  // With asynchronous scheduling old chunk-end states are given back before the
  // request ends (2026-09).
  bool frees_every_old_state = false;

  // Swapping is V0's (PreemptionMode, --swap-space; PagedAttention, section 4.5); V1
  // only recomputes, so beside its other rules it is what-if. Synchronous scheduling
  // only: outputs in flight would have to wait for their rows.
  PreemptionMode preemption_mode = PreemptionMode::kRecompute;
  int64_t host_blocks = 0;  // of host memory, for requests swapped out

  // Remember why the head of the queue was refused (speed only; decisions are
  // the same without).
  bool remember_refusal = true;

  absl::Status Validate() const;
  // The same with `groups` filled in and blocks of one size in bytes.
  // InvalidArgument names what does not fit together.
  absl::StatusOr<Settings> Normalized() const;

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
  int64_t MaxTokensInFlight() const {
    if (max_tokens_in_flight > 0) return max_tokens_in_flight;
    return max_num_batched_tokens * (async_scheduling ? 2 : 1);
  }
  // Where states and tails are kept, the retention interval included.
  CheckpointPolicy Checkpoints() const {
    return checkpoints.value_or(PolicyOfInterval(retention_interval));
  }
  bool EvictsByValue() const {
    return checkpoints.has_value() && checkpoints->value_permille.has_value();
  }
  // What keys and hits are multiples of. REQUIRES: Normalized().ok().
  CacheUnits Units() const;
  // Tokens per key of a request's chain. The same requirement.
  int64_t HashTokens() const { return Units().hash_tokens; }
  // Bytes of one block. REQUIRES: Normalized, or one group.
  int64_t BlockBytes() const;
};

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_SETTINGS_H_
