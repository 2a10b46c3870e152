// The flags of `kvsim replay`, as typed, and what they mean.

#ifndef KVSIM_TOOLS_REPLAY_FLAGS_H_
#define KVSIM_TOOLS_REPLAY_FLAGS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/slo.h"
#include "tools/timed_trace_flags.h"
#include "traces/trace_options.h"

namespace kvsim {

// Text as typed; empty means not given. Numbers are read by the functions
// below, so that every error names its flag and value in the same words.
struct ReplayFlags {
  std::string mode = "engine";
  bool json = false;

  std::string trace, trace_format, limit, rate_scale, arrivals, partial_tail;
  TimedTraceFlags timed;
  bool continue_sessions = false;
  std::string samples, beam_width, sharing;  // sequences of a row

  // --mode hits
  std::string policy, blocks, measure_last;

  // The model and its memory, or the blocks directly.
  std::string engine = "vllm", engine_version, model, hf_overrides, assume;
  std::string gpu, gpu_memory, gpu_memory_utilization, weight_bytes,
      non_kv_memory, kv_memory, num_gpu_blocks, kv_bytes_per_token;
  std::string num_gpus, tensor, pipeline, decode_context, kv_cache_dtype;
  std::string groups;  // of the cache, without a model

  // The engine's scheduler and cache.
  std::string block_size, max_num_seqs, max_num_batched_tokens, max_model_len,
      scheduling_policy, watermark, long_prefill_token_threshold,
      num_speculative_tokens, speculative_method, retention_interval,
      prefix_match_unit, state_mode, state_dtype, checkpoint_policy,
      preemption_mode, swap_space, swap_bandwidth;
  bool async_scheduling = false;
  bool no_chunked_prefill = false;
  // Nothing: as the version has it.
  std::optional<bool> no_prefix_caching, no_reserve_full_isl, no_hybrid_manager;

  // Time.
  std::string timing, step_us, linear_us, step_times, roofline_engine, cost;

  // The page operations, performed.
  std::string backend, backend_pool;

  // What comes out.
  std::string slo, baseline, gpu_hour_price, timeline, chrome_trace, step_log;
  bool step_log_detail = false;
};

// Declares the flags on `command`. `flags` must outlive parsing.
void DeclareReplayFlags(CLI::App& command, ReplayFlags& flags);

// Of them what describes one run of the engine: trace, model and memory, engine,
// time of a step; not the mode, not what comes out.
void DeclareRunFlags(CLI::App& command, ReplayFlags& flags);

// Of them only what says which rows a cache alone sees.
void DeclareHitTraceFlags(CLI::App& command, ReplayFlags& flags);

// The trace's options; `arrivals` only when --arrivals is given.
// Errors, here and below: InvalidArgument "--flag 'value': what is accepted".
struct ReplayTraceOptions {
  TraceOptions options;
  std::optional<Arrivals> arrivals;
};
absl::StatusOr<ReplayTraceOptions> TraceOptionsOf(const ReplayFlags& flags);

// Wrong usage: an unknown --mode, or a flag that would be ignored because it has
// a meaning in another mode or timing, or beside another flag only.
absl::Status CheckModes(const ReplayFlags& flags);

// Whether the run, or the one of its --baseline, preempts by swap.
bool AsksForSwaps(const ReplayFlags& flags);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_REPLAY_FLAGS_H_
