#include "tools/replay_flags.h"

#include <initializer_list>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "tools/command.h"
#include "tools/flag_reader.h"

namespace kvsim {
namespace {

void DeclareArrivalFlags(CLI::App& command, ReplayFlags& flags) {
  command
      .add_option("--rate-scale", flags.rate_scale,
                  "Multiply the arrival rate: 2, 0.25, 3/2")
      ->group("Trace");
  command
      .add_option("--arrivals", flags.arrivals,
                  "timestamps (open loop) or after-previous (closed loop; the "
                  "default for traces with sessions)")
      ->group("Trace");
}

void DeclareSequenceFlags(CLI::App& command, ReplayFlags& flags) {
  const auto add = [&](const char* names, std::string& value,
                       const char* help) {
    command.add_option(names, value, help)->group("Trace");
  };
  add("--samples", flags.samples,
      "Outputs of every request, each a sequence of its own (1)");
  add("--beam-width", flags.beam_width,
      "Beams of every request; each step one goes on twice for another (1)");
  add("--sharing", flags.sharing,
      "What sequences of a request share: fork (every block, copied before a "
      "write) or prefix (separate requests, as vLLM V1) (fork)");
}

void DeclareHitFlags(CLI::App& command, ReplayFlags& flags) {
  const auto add = [&](const char* names, std::string& value,
                       const char* help) {
    command.add_option(names, value, help)->group("Hits only (--mode hits)");
  };
  add("--policy", flags.policy, "lru, fifo or optimal (lru)");
  add("--blocks", flags.blocks,
      "Cache entries; or --kv-memory with --kv-bytes-per-token");
  add("--measure-last", flags.measure_last,
      "Count only this share of the requests, the last ones: 50% (100%)");
}

void DeclareMemoryFlags(CLI::App& command, ReplayFlags& flags) {
  const auto add = [&](const char* names, std::string& value,
                       const char* help) {
    command.add_option(names, value, help)->group("Model and memory");
  };
  add("--model", flags.model, "Catalogue name, config.json, or model folder");
  add("--hf-overrides", flags.hf_overrides,
      "JSON object merged into the config");
  add("--assume", flags.assume,
      "How to read a family kvsim does not know: gqa or mla");
  add("--num-gpu-blocks,--num-gpu-blocks-override", flags.num_gpu_blocks,
      "Blocks of the pool directly, the null block included");
  add("--kv-bytes-per-token", flags.kv_bytes_per_token,
      "Bytes of one token on one rank, without --model");
  add("--groups", flags.groups,
      "Cache groups without --model: 'full;mamba*3', 'swa:1024*5;full', "
      "KIND[:TOKENS][/BLOCK][*COUNT] of full, swa, chunked, mamba, cross");
  add("--kv-memory", flags.kv_memory, "Memory of the cache on one rank");
  add("--gpu", flags.gpu, "Card by name, such as H200");
  add("--gpu-memory", flags.gpu_memory,
      "Memory of one GPU as the engine sees it: 139.8GiB, 141GB");
  add("--gpu-memory-utilization", flags.gpu_memory_utilization,
      "Share of it that the engine may use");
  add("--weight-bytes", flags.weight_bytes,
      "Weights of the whole model; default: counted from the config");
  add("--non-kv-memory", flags.non_kv_memory,
      "Activations, CUDA context and graphs of one rank");
  add("--num-gpus", flags.num_gpus, "GPUs of the engine");
  add("--tensor-parallel-size,--tp", flags.tensor, "Ranks that split heads");
  add("--pipeline-parallel-size,--pp", flags.pipeline,
      "Stages that split layers");
  add("--decode-context-parallel-size,--dcp", flags.decode_context,
      "Tensor ranks that split each sequence's tokens");
  add("--kv-cache-dtype", flags.kv_cache_dtype, "auto, fp8, bfloat16, ...");
}

void DeclareEngineFlags(CLI::App& command, ReplayFlags& flags) {
  const auto add = [&](const char* names, std::string& value,
                       const char* help) {
    command.add_option(names, value, help)->group("Engine");
  };
  const auto flag = [&](const char* names, bool& value, const char* help) {
    command.add_flag(names, value, help)->group("Engine");
  };
  // What the version decides when nothing is said.
  const auto tell = [&](const char* names, std::optional<bool>& value,
                        const char* help) {
    command
        .add_flag_function(
            names, [&value](int64_t count) { value = count > 0; }, help)
        ->group("Engine");
  };
  add("--engine", flags.engine, "vllm");
  add("--engine-version", flags.engine_version,
      "Release or date of a main commit; default: the newest known rules");
  add("--block-size", flags.block_size, "Tokens per block (16; hits: 512)");
  add("--max-num-seqs", flags.max_num_seqs, "Requests that run at once (128)");
  add("--max-num-batched-tokens", flags.max_num_batched_tokens,
      "Tokens of one step (2048)");
  add("--max-model-len", flags.max_model_len,
      "Longest request, outputs included (131072; with --model: the config's)");
  add("--scheduling-policy", flags.scheduling_policy, "fcfs or priority");
  add("--watermark", flags.watermark,
      "Share of the blocks kept free at admission (0)");
  add("--long-prefill-token-threshold", flags.long_prefill_token_threshold,
      "Longest chunk of one prompt; 0: no limit");
  add("--num-speculative-tokens", flags.num_speculative_tokens,
      "Drafts per step (0)");
  add("--speculative-method", flags.speculative_method,
      "eagle, mtp, draft_model or ngram (eagle)");
  add("--retention-interval,--prefix-cache-retention-interval",
      flags.retention_interval,
      "Checkpoints of windows and states: dense, 0 (the prompt's last and "
      "junctions) or one every N tokens (0; dense before 2026-08-17)");
  add("--checkpoint-policy", flags.checkpoint_policy,
      "Where states and windows are kept instead: none, dense, every:TOKENS, "
      "geometric:TOKENS, prompt-end, branch-points, value[:WEIGHT], joined by "
      "+");
  add("--prefix-match-unit", flags.prefix_match_unit,
      "Tokens of which hits are multiples, a divisor of the blocks");
  add("--mamba-cache-mode", flags.state_mode,
      "States kept for prefix hits: none, align, all (align)");
  add("--mamba-ssm-cache-dtype", flags.state_dtype,
      "Recurrent states: float32, bfloat16, int8 with a scale a head, ... (the "
      "model's)");
  add("--preemption-mode", flags.preemption_mode,
      "recompute, or swap: rows of a preempted request go to host memory "
      "(recompute)");
  add("--swap-space", flags.swap_space,
      "swap: host memory of one rank, in GiB or with a unit (4)");
  add("--swap-bandwidth", flags.swap_bandwidth,
      "swap: from and to host memory, each direction of one rank: 25GB/s");
  flag("--async-scheduling,!--no-async-scheduling", flags.async_scheduling,
       "Two batches in flight (off)");
  tell("--no-enable-prefix-caching,!--enable-prefix-caching",
       flags.no_prefix_caching, "Prefix caching off");
  flag("--no-enable-chunked-prefill,!--enable-chunked-prefill",
       flags.no_chunked_prefill, "Prompts in one piece");
  tell("--no-scheduler-reserve-full-isl,!--scheduler-reserve-full-isl",
       flags.no_reserve_full_isl,
       "Admit a prompt when its first chunk fits, not the whole");
  tell(
      "--disable-hybrid-kv-cache-manager,!--no-disable-hybrid-kv-cache-manager",
      flags.no_hybrid_manager, "Store windows and chunks as full history");
}

void DeclareTimeFlags(CLI::App& command, ReplayFlags& flags) {
  const auto add = [&](const char* names, std::string& value,
                       const char* help) {
    command.add_option(names, value, help)->group("Time of a step");
  };
  add("--timing", flags.timing, "steps, linear, recorded or roofline (steps)");
  add("--step-us", flags.step_us, "steps: microseconds of every step (20000)");
  add("--linear-us", flags.linear_us,
      "linear: base=US,prefill=US,decode=US,context=US per step, prefill "
      "token, decoding request, token of context");
  add("--step-times", flags.step_times,
      "recorded: file with one duration per step, a line each");
  add("--roofline-engine", flags.roofline_engine,
      "roofline: whose measured step times it was fitted to: vllm, sglang or "
      "tensorrt-llm (vllm)");
  add("--cost", flags.cost,
      "Adds what paging takes: table:FILE of `kvsim paging calibrate`");
}

void DeclareBackendFlags(CLI::App& command, ReplayFlags& flags) {
  const auto add = [&](const char* names, std::string& value,
                       const char* help) {
    command.add_option(names, value, help)->group("Page operations");
  };
  add("--backend", flags.backend,
      "Perform every page operation on real memory and verify what is read: "
      "host, cuda; null counts them");
  add("--backend-pool", flags.backend_pool,
      "Memory for that; larger pools are scaled down (host: 64MiB; cuda: 90% "
      "of "
      "what is free)");
}

void DeclareOutputFlags(CLI::App& command, ReplayFlags& flags) {
  const auto add = [&](const char* names, std::string& value,
                       const char* help) {
    command.add_option(names, value, help)->group("Output");
  };
  command.add_flag("--json", flags.json, "One JSON object on stdout")
      ->group("Output");
  add("--slo", flags.slo, "Goodput: ttft=2s,tpot=50ms,e2e=1min");
  add("--baseline", flags.baseline,
      "contiguous: the same trace without paging, three ways to reserve; "
      "no-prefix-caching: what the cache saved; recompute or swap: the other "
      "mode of preemption");
  add("--gpu-hour-price", flags.gpu_hour_price,
      "Price of one GPU for one hour, in your money");
  add("--timeline", flags.timeline, "CSV file, one row per step");
  add("--chrome-trace", flags.chrome_trace,
      "JSON file for ui.perfetto.dev or chrome://tracing");
  add("--step-log", flags.step_log,
      "JSON lines of every decision, with check sums of the allocator");
  command
      .add_flag("--step-log-detail", flags.step_log_detail,
                "With block ids and scheduled tokens")
      ->group("Output");
}

// A flag that was given where it has no meaning.
struct GivenFlag {
  const char* name;
  bool given;
};

absl::Status RefuseGiven(std::initializer_list<GivenFlag> flags,
                         const char* where) {
  for (const GivenFlag& flag : flags) {
    if (!flag.given) continue;
    return UsageError(absl::StrCat(flag.name, " has a meaning ", where));
  }
  return absl::OkStatus();
}

absl::Status RefuseHitFlags(const ReplayFlags& f) {
  return RefuseGiven({{"--policy", !f.policy.empty()},
                      {"--blocks", !f.blocks.empty()},
                      {"--measure-last", !f.measure_last.empty()}},
                     "with --mode hits only");
}

absl::Status RefuseModelFlags(const ReplayFlags& f) {
  return RefuseGiven(
      {{"--hf-overrides", !f.hf_overrides.empty()},
       {"--assume", !f.assume.empty()},
       {"--gpu", !f.gpu.empty()},
       {"--gpu-memory", !f.gpu_memory.empty()},
       {"--gpu-memory-utilization", !f.gpu_memory_utilization.empty()},
       {"--weight-bytes", !f.weight_bytes.empty()},
       {"--non-kv-memory", !f.non_kv_memory.empty()},
       {"--num-gpus", !f.num_gpus.empty()},
       {"--tensor-parallel-size", !f.tensor.empty()},
       {"--pipeline-parallel-size", !f.pipeline.empty()},
       {"--decode-context-parallel-size", !f.decode_context.empty()},
       {"--kv-cache-dtype", !f.kv_cache_dtype.empty()},
       {"--mamba-ssm-cache-dtype", !f.state_dtype.empty()},
       {"--disable-hybrid-kv-cache-manager", f.no_hybrid_manager.has_value()}},
      "with --model only");
}

absl::Status RefuseEngineFlags(const ReplayFlags& f) {
  return RefuseGiven(
      {{"--model", !f.model.empty()},
       {"--groups", !f.groups.empty()},
       {"--engine-version", !f.engine_version.empty()},
       {"--retention-interval", !f.retention_interval.empty()},
       {"--checkpoint-policy", !f.checkpoint_policy.empty()},
       {"--prefix-match-unit", !f.prefix_match_unit.empty()},
       {"--mamba-cache-mode", !f.state_mode.empty()},
       {"--preemption-mode", !f.preemption_mode.empty()},
       {"--num-gpu-blocks", !f.num_gpu_blocks.empty()},
       {"--max-num-seqs", !f.max_num_seqs.empty()},
       {"--max-num-batched-tokens", !f.max_num_batched_tokens.empty()},
       {"--max-model-len", !f.max_model_len.empty()},
       {"--scheduling-policy", !f.scheduling_policy.empty()},
       {"--watermark", !f.watermark.empty()},
       {"--long-prefill-token-threshold",
        !f.long_prefill_token_threshold.empty()},
       {"--num-speculative-tokens", !f.num_speculative_tokens.empty()},
       {"--speculative-method", !f.speculative_method.empty()},
       {"--async-scheduling", f.async_scheduling},
       {"--no-enable-prefix-caching", f.no_prefix_caching.value_or(false)},
       {"--no-enable-chunked-prefill", f.no_chunked_prefill},
       {"--no-scheduler-reserve-full-isl",
        f.no_reserve_full_isl.value_or(false)},
       {"--arrivals", !f.arrivals.empty()},
       {"--rate-scale", !f.rate_scale.empty()},
       {"--samples", !f.samples.empty()},
       {"--beam-width", !f.beam_width.empty()},
       {"--sharing", !f.sharing.empty()},
       {"--timing", !f.timing.empty()},
       {"--step-us", !f.step_us.empty()},
       {"--linear-us", !f.linear_us.empty()},
       {"--step-times", !f.step_times.empty()},
       {"--roofline-engine", !f.roofline_engine.empty()},
       {"--cost", !f.cost.empty()},
       {"--backend", !f.backend.empty()},
       {"--backend-pool", !f.backend_pool.empty()},
       {"--slo", !f.slo.empty()},
       {"--baseline", !f.baseline.empty()},
       {"--gpu-hour-price", !f.gpu_hour_price.empty()},
       {"--timeline", !f.timeline.empty()},
       {"--chrome-trace", !f.chrome_trace.empty()},
       {"--step-log", !f.step_log.empty()}},
      "with --mode engine only");
}

absl::Status RefuseSwapFlags(const ReplayFlags& f) {
  return RefuseGiven({{"--swap-space", !f.swap_space.empty()},
                      {"--swap-bandwidth", !f.swap_bandwidth.empty()}},
                     "with --preemption-mode swap or --baseline swap only");
}

absl::Status RefuseTimingFlags(const ReplayFlags& f) {
  const std::string timing = f.timing.empty() ? "steps" : f.timing;
  absl::Status status =
      RefuseGiven({{"--step-us", timing != "steps" && !f.step_us.empty()}},
                  "with --timing steps only");
  status.Update(
      RefuseGiven({{"--linear-us", timing != "linear" && !f.linear_us.empty()}},
                  "with --timing linear only"));
  status.Update(RefuseGiven(
      {{"--step-times", timing != "recorded" && !f.step_times.empty()}},
      "with --timing recorded only"));
  status.Update(
      RefuseGiven({{"--roofline-engine",
                    timing != "roofline" && !f.roofline_engine.empty()}},
                  "with --timing roofline only"));
  status.Update(RefuseGiven(
      {{"--backend-pool",
        (f.backend.empty() || f.backend == "null") && !f.backend_pool.empty()}},
      "with --backend host or cuda only"));
  status.Update(RefuseGiven(
      {{"--step-log-detail", f.step_log.empty() && f.step_log_detail}},
      "with --step-log only"));
  return status;
}

}  // namespace

void DeclareHitTraceFlags(CLI::App& command, ReplayFlags& flags) {
  const auto add = [&](const char* names, std::string& value,
                       const char* help) {
    return command.add_option(names, value, help)->group("Trace");
  };
  add("--trace", flags.trace, "File or folder of requests")->required();
  add("--trace-format", flags.trace_format,
      "auto (by content) or a format of docs/traces.md: mooncake, weka, ...");
  add("--limit", flags.limit, "Only the first N requests");
  add("--partial-tail", flags.partial_tail,
      "unique (tokens behind the last whole hash block never hit) or shared");
  command
      .add_flag("--continue-sessions", flags.continue_sessions,
                "The next turn of a session repeats the last one's output")
      ->group("Trace");
  AddTimedTraceFlags(command, flags.timed);
}

void DeclareRunFlags(CLI::App& command, ReplayFlags& flags) {
  DeclareHitTraceFlags(command, flags);
  DeclareArrivalFlags(command, flags);
  DeclareSequenceFlags(command, flags);
  DeclareMemoryFlags(command, flags);
  DeclareEngineFlags(command, flags);
  DeclareTimeFlags(command, flags);
}

void DeclareReplayFlags(CLI::App& command, ReplayFlags& flags) {
  command.add_option("--mode", flags.mode,
                     "engine (the whole scheduler) or hits (a cache alone)");
  DeclareRunFlags(command, flags);
  DeclareHitFlags(command, flags);
  DeclareBackendFlags(command, flags);
  DeclareOutputFlags(command, flags);
}

absl::StatusOr<ReplayTraceOptions> TraceOptionsOf(const ReplayFlags& flags) {
  ReplayTraceOptions result;
  TraceOptions& options = result.options;
  FlagReader reader;
  reader.Read("--trace-format", flags.trace_format, ParseTraceFormat,
              &options.format);
  reader.Read("--limit", flags.limit, ParseCount, &options.limit);
  reader.Read("--rate-scale", flags.rate_scale, ParseRateScale,
              &options.rate_scale);
  reader.Read("--arrivals", flags.arrivals, ParseArrivals, &result.arrivals);
  reader.Read("--partial-tail", flags.partial_tail, ParsePartialTail,
              &options.partial_tail);
  options.continue_sessions = flags.continue_sessions;
  absl::Status status = reader.status();
  status.Update(ApplyTimedTrace(flags.timed, &options));
  if (!status.ok()) return status;
  return result;
}

bool AsksForSwaps(const ReplayFlags& flags) {
  return flags.preemption_mode == "swap" || flags.baseline == "swap";
}

absl::Status CheckModes(const ReplayFlags& flags) {
  if (flags.mode != "engine" && flags.mode != "hits") {
    return UsageError(
        absl::StrCat("--mode '", flags.mode, "': accepted: engine, hits"));
  }
  if (flags.mode == "hits") {
    absl::Status status = RefuseEngineFlags(flags);
    status.Update(RefuseModelFlags(flags));
    status.Update(RefuseSwapFlags(flags));
    return status;
  }
  absl::Status status = RefuseHitFlags(flags);
  status.Update(RefuseTimingFlags(flags));
  if (!AsksForSwaps(flags)) status.Update(RefuseSwapFlags(flags));
  if (flags.model.empty()) {
    status.Update(RefuseModelFlags(flags));
    status.Update(
        RefuseGiven({{"--mamba-cache-mode",
                      flags.groups.empty() && !flags.state_mode.empty()}},
                    "with --model or --groups only"));
  } else {
    status.Update(RefuseGiven(
        {{"--kv-bytes-per-token", !flags.kv_bytes_per_token.empty()},
         {"--groups", !flags.groups.empty()}},
        "without --model only"));
  }
  return status;
}

}  // namespace kvsim
