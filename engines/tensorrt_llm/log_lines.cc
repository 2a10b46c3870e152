#include "engines/tensorrt_llm/log_lines.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "engines/line_pattern.h"

namespace kvsim::tensorrt_llm {
namespace {

constexpr LinePattern kPatterns[] = {
    {"TensorRT-LLM version: {w}", "engine_version"},
    {"TRTGptModel mMaxAttentionWindowSize: {#}", "config.max_attention_window"},
    {"TRTGptModel maxNumTokens: {#}", "config.max_num_tokens"},
    {"TRTGptModel maxNumSequences: {#}", "config.max_num_sequences"},
    {"TRTGptModel maxInputLen: {#}", "config.max_input_len"},
    {"Capacity Scheduler Policy: {w}", "config.policy"},
    {"Loaded engine size: {#} MiB", "@engine_mib"},
    {"Allocated {#} MiB for execution context memory", "@exec_context_mib"},
    {"IExecutionContext creation: CPU {#}, GPU {#}, now: CPU {#}, GPU {#} "
     "(MiB)",
     "- - - @trt_managed_gpu_mib"},
    {"Allocated {#} GB GPU memory for runtime buffers", "@runtime_buffers_gb"},
    {"Allocated {#} MB GPU memory for runtime buffers", "@runtime_buffers_mb"},
    {"Allocated {#} GB GPU memory for decoder", "@decoder_gb"},
    {"Allocated {#} MB GPU memory for decoder", "@decoder_mb"},
    {"Memory usage when calculating max tokens in paged kv cache: total: {#} "
     "GiB, available: {#} GiB",
     "@device_total_gib @device_available_gib"},
    {"Number of blocks in KV cache primary pool: {#}", "@primary_blocks"},
    {"Number of blocks in KV cache secondary pool: {#}", "@secondary_blocks"},
    {"Max KV cache pages per sequence: {#}", "@max_pages_per_seq"},
    {"Max KV cache blocks per sequence: {#}", "@max_pages_per_seq"},
    {"tokens per block={#}, primary blocks={#}, secondary blocks={#}",
     "@tokens_per_block @primary_blocks @secondary_blocks"},
    {"max sequence length={#}", "config.max_seq_len"},
    {"Number of tokens per block: {#}", "@tokens_per_block"},
    {"Allocated {#} GiB for max tokens in paged KV cache ({#})",
     "@kv_allocated_gib @kv_tokens"},
    {"Using {#} tokens in paged KV cache", "@kv_tokens"},
    {"Allocate {#} bytes for k/v cache", "@kv_allocated_bytes"},
    {"they are reduced to {#}", "refusal.reduced_to"},
};

// "[TensorRT-LLM][INFO][3]": "3".
std::string RankOf(absl::string_view text) {
  const absl::string_view head = "[TensorRT-LLM][";
  const size_t at = text.find(head);
  if (at == absl::string_view::npos) return "0";
  const size_t close = text.find("][", at + head.size());
  if (close == absl::string_view::npos) return "0";
  const absl::string_view rest = text.substr(close + 2);
  size_t end = 0;
  while (end < rest.size() &&
         absl::ascii_isdigit(static_cast<unsigned char>(rest[end]))) {
    ++end;
  }
  if (end == 0 || end >= rest.size() || rest[end] != ']') return "0";
  return std::string(rest.substr(0, end));
}

}  // namespace

void LogLineReader::Read(const LogMessage& message, StartupLog* log) {
  ReadPatterns(kPatterns, message, RankOf(message.text), log);
}

}  // namespace kvsim::tensorrt_llm
