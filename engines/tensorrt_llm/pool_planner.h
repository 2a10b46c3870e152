// TensorRT-LLM's plan: model, flags and free memory in; blocks, log lines and a
// PoolPlan out.
//
// Model:   layers with the same window share a pool of blocks of
//          tokens_per_block tokens; a layer without one has the longest
//          sequence as its window. free_gpu_memory_fraction of the free memory
//          is split over the windows, equally unless shares are given; a
//          window's blocks are its part over the block bytes of its layers.
//            K, V     ceil(heads / ranks) heads; nvfp4 with a scale per 16
//            latents  one row; index keys of 132 B on the layers that select
//            states   one set for each of max_batch_size requests, taken first
// Weak:    no run of this engine was recomputed beyond blocks x row bytes; the
//          plan's notes say so.
// Source:  docs/source/features/kvcache.md, resource_manager.py,
//          kvCacheManager.cpp (dates unknown, late 2025 to mid 2026).

#ifndef KVSIM_ENGINES_TENSORRT_LLM_POOL_PLANNER_H_
#define KVSIM_ENGINES_TENSORRT_LLM_POOL_PLANNER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/units.h"
#include "engines/cache_pools.h"
#include "engines/pool_plan.h"
#include "engines/tensorrt_llm/settings.h"
#include "models/model_spec.h"

namespace kvsim::tensorrt_llm {

// One of them is given; blocks go before tokens, tokens before memory. Blocks
// and tokens are those of every window.
struct PoolMemory {
  std::optional<Bytes> free;  // on a rank, after loading
  std::optional<int64_t> num_blocks;
  std::optional<int64_t> max_tokens;
};

struct WindowPool {
  int64_t window = 0;  // tokens; the longest sequence where all are kept
  std::vector<int32_t> layers;
  Bytes block;  // tokens_per_block rows of all its layers
  int64_t num_blocks = 0;
  int64_t host_blocks = 0;
  int64_t blocks_per_sequence = 0;
};

struct BlockPlan {
  int64_t tokens_per_block = 32;
  int64_t max_seq_len = 0;          // what the engine shrinks it to, if it must
  std::vector<WindowPool> windows;  // widest first
  int64_t num_blocks = 0;           // of all windows
  int64_t max_tokens = 0;           // blocks x tokens per block
  std::vector<CachePool> pools;     // "window W": rows; "mamba": states
  PoolPlan pool;
};

// Errors: InvalidArgument naming flag and value; Unimplemented for compressed
// attention.
absl::StatusOr<BlockPlan> PlanBlocks(const ModelSpec& model,
                                     const Settings& settings,
                                     const PoolMemory& memory);

}  // namespace kvsim::tensorrt_llm

#endif  // KVSIM_ENGINES_TENSORRT_LLM_POOL_PLANNER_H_
