#include "tools/capacity_flags.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/text.h"
#include "engines/state_mode.h"
#include "models/dtype.h"
#include "models/gpu_catalogue.h"
#include "models/kv_cache_dtype.h"

namespace kvsim {
namespace {

// Reads flags one after the other and keeps the first error.
class FlagReader {
 public:
  const absl::Status& status() const { return status_; }

  // Leaves *out alone when the flag is not given or an error came before.
  template <typename T, typename Out>
  void Read(absl::string_view flag, const std::string& text,
            absl::StatusOr<T> (*parse)(absl::string_view), Out* out) {
    if (text.empty() || !status_.ok()) return;
    absl::StatusOr<T> value = parse(text);
    if (value.ok()) {
      *out = *std::move(value);
      return;
    }
    status_ = absl::InvalidArgumentError(
        absl::StrCat(flag, " '", text, "': ", value.status().message()));
  }

 private:
  absl::Status status_;
};

absl::StatusOr<Blocks> ParseBlocks(absl::string_view text) {
  absl::StatusOr<int64_t> count = ParseCount(text);
  if (!count.ok()) return count.status();
  return Blocks(*count);
}

absl::StatusOr<DType> ParseFlagDType(absl::string_view text) {
  const std::optional<DType> dtype = ParseDType(text);
  if (dtype.has_value()) return *dtype;
  return absl::InvalidArgumentError(
      "unknown dtype; accepted: bfloat16, float16, float32, fp8, int8, fp4");
}

absl::StatusOr<std::vector<Tokens>> ParseContexts(absl::string_view text) {
  std::vector<Tokens> contexts;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    absl::StatusOr<Tokens> tokens = ParseTokens(part);
    if (!tokens.ok()) return tokens.status();
    contexts.push_back(*tokens);
  }
  return contexts;
}

absl::StatusOr<Platform> ParsePlatform(absl::string_view text) {
  if (text == "cuda") return Platform::kCuda;
  if (text == "rocm") return Platform::kRocm;
  if (text == "xpu") return Platform::kXpu;
  if (text == "ascend") return Platform::kAscend;
  if (text == "tpu") return Platform::kTpu;
  return absl::InvalidArgumentError("accepted: cuda, rocm, xpu, ascend, tpu");
}

// One size for all ranks, or one for each.
void ReadKvMemory(const std::string& text, FlagReader& reader,
                  CapacityQuestion& question) {
  const std::vector<std::string> sizes = absl::StrSplit(text, ',');
  if (sizes.size() == 1) {
    reader.Read("--kv-memory", text, ParseBytes, &question.kv_memory);
    return;
  }
  for (const std::string& size : sizes) {
    Bytes bytes(0);
    reader.Read("--kv-memory", size, ParseBytes, &bytes);
    question.kv_memory_ranks.push_back(bytes);
  }
}

void ReadMemory(const CapacityFlags& flags, FlagReader& reader,
                CapacityQuestion& question) {
  reader.Read("--gpu", flags.gpu, FindGpu, &question.gpu);
  reader.Read("--gpu-memory", flags.gpu_memory, ParseBytes,
              &question.gpu_memory);
  reader.Read("--gpu-memory-utilization", flags.gpu_memory_utilization,
              ParseFraction, &question.gpu_memory_utilization);
  reader.Read("--weight-bytes", flags.weight_bytes, ParseBytes,
              &question.weight_bytes);
  reader.Read("--non-kv-memory", flags.non_kv_memory, ParseBytes,
              &question.non_kv_memory);
  ReadKvMemory(flags.kv_memory, reader, question);
  reader.Read("--num-gpu-blocks", flags.num_gpu_blocks, ParseBlocks,
              &question.num_gpu_blocks);
}

void ReadDeployment(const CapacityFlags& flags, FlagReader& reader,
                    CapacityQuestion& question) {
  reader.Read("--num-gpus", flags.num_gpus, ParseCount, &question.num_gpus);
  reader.Read("--tensor-parallel-size", flags.tensor, ParseCount,
              &question.tensor);
  reader.Read("--pipeline-parallel-size", flags.pipeline, ParseCount,
              &question.pipeline);
  reader.Read("--decode-context-parallel-size", flags.decode_context,
              ParseCount, &question.decode_context);
  reader.Read("--block-size", flags.block_size, ParseTokens,
              &question.block_size);
  reader.Read("--max-model-len", flags.max_model_len, ParseTokens,
              &question.max_model_len);
  reader.Read("--max-num-batched-tokens", flags.max_num_batched_tokens,
              ParseCount, &question.max_num_batched_tokens);
  reader.Read("--max-num-seqs", flags.max_num_seqs, ParseCount,
              &question.max_num_seqs);
  reader.Read("--num-speculative-tokens", flags.speculative_tokens, ParseCount,
              &question.speculative_tokens);
}

void ReadCache(const CapacityFlags& flags, FlagReader& reader,
               CapacityQuestion& question) {
  reader.Read("--kv-cache-dtype", flags.kv_cache_dtype, ParseKvCacheDtype,
              &question.kv_cache_dtype);
  reader.Read("--index-key-heads", flags.index_key_heads, ParseCount,
              &question.index_key_heads);
  reader.Read("--index-key-dtype", flags.index_key_dtype, ParseFlagDType,
              &question.index_key_dtype);
  reader.Read("--mamba-ssm-cache-dtype", flags.state_dtype, ParseFlagDType,
              &question.state_dtype);
  reader.Read("--mamba-cache-dtype", flags.conv_state_dtype, ParseFlagDType,
              &question.conv_state_dtype);
  reader.Read("--context", flags.contexts, ParseContexts, &question.contexts);
  reader.Read("--shared-prefix", flags.shared_prefix, ParseTokens,
              &question.shared_prefix);
}

void DeclareMemoryFlags(CLI::App& command, CapacityFlags& flags) {
  command.add_option("--gpu", flags.gpu, "Card by name, such as H200")
      ->group("Memory");
  command
      .add_option("--gpu-memory", flags.gpu_memory,
                  "Memory of one GPU as the engine sees it: 139.8GiB, 141GB")
      ->group("Memory");
  command
      .add_option("--gpu-memory-utilization", flags.gpu_memory_utilization,
                  "Share of it that the engine may use (0.92; 0.90 before "
                  "vLLM 0.20)")
      ->group("Memory");
  command
      .add_option("--weight-bytes", flags.weight_bytes,
                  "Weights of the whole model, all ranks together; default: "
                  "counted from the config")
      ->group("Memory");
  command
      .add_option("--non-kv-memory", flags.non_kv_memory,
                  "Activations, CUDA context and graphs of one rank; default: "
                  "modelled, with its error")
      ->group("Memory");
  command
      .add_option("--kv-memory", flags.kv_memory,
                  "Memory of the cache on one rank, instead of the above; "
                  "with commas: of every rank, stage by stage")
      ->group("Memory");
  command
      .add_option("--num-gpu-blocks,--num-gpu-blocks-override",
                  flags.num_gpu_blocks, "Blocks of the pool directly")
      ->group("Memory");
}

void DeclareDeploymentFlags(CLI::App& command, CapacityFlags& flags) {
  const auto add = [&command](const char* names, std::string& value,
                              const char* help) {
    command.add_option(names, value, help)->group("Deployment");
  };
  add("--num-gpus", flags.num_gpus,
      "GPUs; more than one engine takes run replicas");
  add("--tensor-parallel-size,--tp", flags.tensor,
      "Ranks that split heads; default: all GPUs of a stage");
  add("--pipeline-parallel-size,--pp", flags.pipeline,
      "Stages that split layers");
  add("--decode-context-parallel-size,--dcp", flags.decode_context,
      "Tensor ranks that split each sequence's tokens");
  add("--max-model-len", flags.max_model_len,
      "Longest request; default: the config's");
  add("--max-num-batched-tokens", flags.max_num_batched_tokens,
      "Tokens of one step; default: by the card");
  add("--max-num-seqs", flags.max_num_seqs,
      "Requests that run at once; default: by the card");
  add("--num-speculative-tokens", flags.speculative_tokens,
      "Draft tokens of the model's own MTP layers");
  command
      .add_flag("--no-enable-prefix-caching{off},--enable-prefix-caching{on}",
                flags.prefix_caching, "Prefix caching off or on (on)")
      ->group("Deployment");
  command
      .add_flag("--no-async-scheduling{true},--async-scheduling{false}",
                flags.no_async_scheduling, "Asynchronous scheduling (on)")
      ->group("Deployment");
  command
      .add_flag("--disable-hybrid-kv-cache-manager", flags.no_hybrid_manager,
                "Store windows as full history")
      ->group("Deployment");
}

}  // namespace

void DeclareFlags(CLI::App& command, CapacityFlags& flags) {
  const auto add = [&command](const char* names, std::string& value,
                              const char* help, const char* group) {
    return command.add_option(names, value, help)->group(group);
  };
  add("--model", flags.model,
      "Catalogue name, config.json, or model folder; default: what the command "
      "after `--` serves",
      "Model");
  add("--draft-model", flags.draft_model,
      "The same for a drafter that is a model of its own", "Model");
  add("--hf-overrides", flags.hf_overrides,
      "JSON object merged into the config", "Model");
  add("--assume", flags.assume,
      "How to read a family kvsim does not know: gqa or mla", "Model");
  add("--engine", flags.engine,
      "vllm (default), sglang, llama.cpp, tensorrt-llm", "Engine");
  add("--engine-version", flags.engine_version,
      "Release (0.21.0) or date of a main commit (2026-08-17); default: the "
      "newest known rules",
      "Engine");
  add("--platform", flags.platform,
      "What the engine runs on: cuda (default), rocm, xpu, ascend, tpu",
      "Engine");
  add("--attention-backend", flags.attention_backend,
      "The engine's name for it; default: by the GPU", "Engine");
  command
      .add_option("--engine-switch", flags.engine_switches,
                  "A rule that differs from the version's, NAME=VALUE; "
                  "repeatable. A wrong one lists all")
      ->allow_extra_args(false)
      ->group("Engine");
  DeclareMemoryFlags(command, flags);
  DeclareDeploymentFlags(command, flags);
  add("--mamba-cache-mode", flags.state_mode,
      "States kept for prefix hits: none, align, all", "Cache");
  add("--kv-cache-dtype", flags.kv_cache_dtype,
      "auto, bfloat16, fp8, fp8_ds_mla, nvfp4, int8_per_token_head ...",
      "Cache");
  add("--index-key-heads", flags.index_key_heads,
      "Index keys per token of sparse attention; engines store 1", "Cache");
  add("--index-key-dtype", flags.index_key_dtype, "fp8 or fp4", "Cache");
  add("--mamba-ssm-cache-dtype", flags.state_dtype,
      "Recurrent state: float32, bfloat16", "Cache");
  add("--mamba-cache-dtype", flags.conv_state_dtype,
      "Convolution states, and recurrent ones that nothing else names",
      "Cache");
  add("--block-size", flags.block_size,
      "Tokens of a block; default: the backend's", "Cache");
  add("--context", flags.contexts,
      "Lengths to answer for: 128K,1M; default: the longest request",
      "Question");
  add("--shared-prefix", flags.shared_prefix,
      "Tokens that all requests have in common", "Question");
  add("--concurrency", flags.concurrency,
      "Find the fewest GPUs on which so many requests are resident",
      "Question");
  add("--from-log", flags.from_log,
      "An engine's start-up log: compare every figure it prints with kvsim's",
      "Log");
  add("--calibration", flags.calibration,
      "File of the memory that a log left for the cache: written with "
      "--from-log, used without",
      "Log");
  command.add_flag("--json", flags.json, "One JSON object instead of tables")
      ->group("Question");
}

absl::StatusOr<CapacityQuestion> QuestionOf(const CapacityFlags& flags,
                                            const ModelSpec& model) {
  CapacityQuestion question;
  question.model = &model;
  question.engine = flags.engine;
  question.engine_version = flags.engine_version;
  question.attention_backend = flags.attention_backend;
  question.engine_switches = flags.engine_switches;
  if (!flags.draft_model.empty()) {
    question.speculative_method = SpeculativeMethod::kDraftModel;
  }
  if (!flags.prefix_caching.empty()) {
    question.prefix_caching = flags.prefix_caching == "on";
  }
  question.async_scheduling = !flags.no_async_scheduling;
  if (flags.no_hybrid_manager) question.hybrid_manager = false;
  FlagReader reader;
  reader.Read("--platform", flags.platform, ParsePlatform, &question.platform);
  reader.Read("--mamba-cache-mode", flags.state_mode, ParseStateMode,
              &question.state_mode);
  ReadMemory(flags, reader, question);
  ReadDeployment(flags, reader, question);
  ReadCache(flags, reader, question);
  if (!reader.status().ok()) return reader.status();
  return question;
}

absl::StatusOr<std::optional<int64_t>> WantedConcurrency(
    const CapacityFlags& flags) {
  std::optional<int64_t> wanted;
  FlagReader reader;
  reader.Read("--concurrency", flags.concurrency, ParseCount, &wanted);
  if (!reader.status().ok()) return reader.status();
  return wanted;
}

}  // namespace kvsim
