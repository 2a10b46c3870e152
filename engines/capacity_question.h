// What `kvsim capacity` is asked: a model, an engine's flags, memory.

#ifndef KVSIM_ENGINES_CAPACITY_QUESTION_H_
#define KVSIM_ENGINES_CAPACITY_QUESTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "engines/engine_settings.h"
#include "engines/state_mode.h"
#include "models/dtype.h"
#include "models/gpu_catalogue.h"
#include "models/kv_cache_dtype.h"
#include "models/model_spec.h"

namespace kvsim {

// What the engine runs on, where its rules differ.
enum class Platform { kCuda, kRocm, kXpu, kAscend, kTpu };

// Who proposes tokens: the model's own layers, another model whose layers keep
// caches too, or something without a cache.
enum class SpeculativeMethod { kMtp, kDraftModel, kNoCache };

// A field without a value is the engine's default.
struct CapacityQuestion {
  const ModelSpec* model = nullptr;
  std::string engine = "vllm";
  std::string engine_version;  // "": the newest known rules
  // Of engines other than vLLM, as their own command says; else the defaults.
  EngineSettings engine_settings;
  Platform platform = Platform::kCuda;
  std::optional<bool> previous_engine;  // vLLM: V0, whatever the version
  // Rules that differ from the version's, "NAME=VALUE" in the engine's words.
  std::vector<std::string> engine_switches;

  // Memory: a card or its size, or the cache directly.
  std::optional<Gpu> gpu;
  std::optional<Bytes> gpu_memory;
  std::optional<double> gpu_memory_utilization;
  std::optional<Bytes> weight_bytes;   // cluster, one copy of the model
  std::optional<Bytes> non_kv_memory;  // of one rank
  std::optional<Bytes> kv_memory;      // of one rank
  std::vector<Bytes> kv_memory_ranks;  // of every rank, stage by stage
  std::optional<Blocks> num_gpu_blocks;

  std::optional<int64_t> num_gpus;
  std::optional<int64_t> tensor;  // none: all GPUs of a pipeline stage
  int64_t pipeline = 1;
  int64_t decode_context = 1;
  int64_t prefill_context = 1;

  std::optional<DType> dtype;  // of the model, instead of the config's
  KvCacheDtype kv_cache_dtype = KvCacheDtype::kAuto;
  std::string attention_backend;  // the engine's name; "": by the GPU
  std::optional<int64_t> index_key_heads;
  std::optional<DType> index_key_dtype;
  std::optional<DType> state_dtype;
  std::optional<DType> conv_state_dtype;
  std::optional<Tokens> block_size;
  std::optional<Tokens> max_model_len;
  bool fit_max_model_len = false;  // the longest that fits, up to it
  std::optional<int64_t> max_num_batched_tokens;
  std::optional<int64_t> max_num_seqs;
  bool chunked_prefill = true;
  std::optional<bool> prefix_caching;
  std::optional<StateMode> state_mode;
  std::optional<Tokens> state_block;  // of mode kAll
  bool async_scheduling = true;
  std::optional<bool> hybrid_manager;
  Bytes swap_space = GiB(4);  // of the host, for V0

  int64_t speculative_tokens = 0;
  SpeculativeMethod speculative_method = SpeculativeMethod::kMtp;
  const ModelSpec* draft_model = nullptr;  // of kDraftModel
  KvCacheDtype draft_kv_cache_dtype = KvCacheDtype::kAuto;
  std::optional<int64_t> draft_tensor;  // none: as the model

  std::vector<Tokens> contexts;  // empty: the maximum length
  Tokens shared_prefix{0};
  std::vector<std::string> notes;  // about the question, for people
};

}  // namespace kvsim

#endif  // KVSIM_ENGINES_CAPACITY_QUESTION_H_
