// What `kvsim capacity` is asked: a model, an engine's flags, memory.

#ifndef KVSIM_ENGINES_CAPACITY_QUESTION_H_
#define KVSIM_ENGINES_CAPACITY_QUESTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "models/dtype.h"
#include "models/gpu_catalogue.h"
#include "models/kv_cache_dtype.h"
#include "models/model_spec.h"

namespace kvsim {

// A field without a value is the engine's default.
struct CapacityQuestion {
  const ModelSpec* model = nullptr;
  std::string engine = "vllm";
  std::string engine_version;  // "": the newest known rules

  // Memory: a card or its size, or the cache directly.
  std::optional<Gpu> gpu;
  std::optional<Bytes> gpu_memory;
  std::optional<double> gpu_memory_utilization;
  std::optional<Bytes> weight_bytes;   // cluster, one copy of the model
  std::optional<Bytes> non_kv_memory;  // of one rank
  std::optional<Bytes> kv_memory;      // of one rank
  std::optional<Blocks> num_gpu_blocks;

  std::optional<int64_t> num_gpus;
  std::optional<int64_t> tensor;  // none: all GPUs of a pipeline stage
  int64_t pipeline = 1;
  int64_t decode_context = 1;

  KvCacheDtype kv_cache_dtype = KvCacheDtype::kAuto;
  std::optional<int64_t> index_key_heads;
  std::optional<DType> index_key_dtype;
  std::optional<DType> state_dtype;
  std::optional<DType> conv_state_dtype;
  std::optional<Tokens> block_size;
  std::optional<Tokens> max_model_len;
  std::optional<int64_t> max_num_batched_tokens;
  std::optional<int64_t> max_num_seqs;
  bool prefix_caching = true;
  bool async_scheduling = true;
  int64_t speculative_tokens = 0;  // by the model's own MTP layers
  std::optional<bool> hybrid_manager;

  std::vector<Tokens> contexts;  // empty: the maximum length
  Tokens shared_prefix{0};
};

}  // namespace kvsim

#endif  // KVSIM_ENGINES_CAPACITY_QUESTION_H_
