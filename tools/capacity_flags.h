// The flags of `kvsim capacity`, as typed, and the question they ask.

#ifndef KVSIM_TOOLS_CAPACITY_FLAGS_H_
#define KVSIM_TOOLS_CAPACITY_FLAGS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engines/capacity_question.h"
#include "models/model_spec.h"

namespace kvsim {

// Text as typed; empty means not given. Numbers are read by QuestionOf, so that
// every error names its flag and value in the same words.
struct CapacityFlags {
  std::string model, hf_overrides, assume, draft_model;
  std::string engine = "vllm", engine_version, platform, attention_backend;
  std::vector<std::string> engine_switches;
  std::string gpu, gpu_memory, gpu_memory_utilization, weight_bytes,
      non_kv_memory, kv_memory, num_gpu_blocks;
  std::string num_gpus, tensor, pipeline, decode_context;
  std::string kv_cache_dtype, index_key_heads, index_key_dtype, state_dtype,
      conv_state_dtype;
  std::string block_size, max_model_len, max_num_batched_tokens, max_num_seqs,
      speculative_tokens;
  std::string contexts, shared_prefix, concurrency;
  std::string prefix_caching;  // "on", "off"
  std::string state_mode;
  std::string from_log, calibration;  // files
  bool no_async_scheduling = false;
  bool no_hybrid_manager = false;
  bool json = false;
};

// Declares the flags on `command`. `flags` must outlive parsing.
void DeclareFlags(CLI::App& command, CapacityFlags& flags);

// What is asked about `model`, which must outlive the question.
// Errors: InvalidArgument "--flag 'value': what would be accepted".
absl::StatusOr<CapacityQuestion> QuestionOf(const CapacityFlags& flags,
                                            const ModelSpec& model);

// --concurrency, when given.
absl::StatusOr<std::optional<int64_t>> WantedConcurrency(
    const CapacityFlags& flags);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_CAPACITY_FLAGS_H_
