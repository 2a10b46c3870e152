#include "engines/sglang/serve_arguments.h"

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engines/serve_values.h"

namespace kvsim::sglang {
namespace {

absl::StatusOr<DType> ParseStateDtype(absl::string_view text) {
  const std::optional<DType> dtype = ParseDType(text);
  if (dtype.has_value() && BitsPerElement(*dtype) >= 16) return *dtype;
  return absl::InvalidArgumentError("accepted: float32, bfloat16, float16");
}

// True when the model's own layers draft.
absl::StatusOr<bool> ParseAlgorithm(absl::string_view text) {
  const std::string name = absl::AsciiStrToUpper(text);
  for (absl::string_view own : {"EAGLE", "EAGLE3", "NEXTN", "MTP"}) {
    if (name == own) return true;
  }
  for (absl::string_view other : {"STANDALONE", "NGRAM", "NONE"}) {
    if (name == other) return false;
  }
  return absl::InvalidArgumentError(
      "accepted: EAGLE, EAGLE3, NEXTN, MTP, STANDALONE, NGRAM");
}

void ReadSizes(ServeValues& values, Settings& settings) {
  values.Integer("--tp-size", &settings.tp_size);
  values.Integer("--pp-size", &settings.pp_size);
  values.Integer("--dp-size", &settings.dp_size);
  values.Integer("--dcp-size", &settings.dcp_size);
  values.Switch("--enable-dp-attention", &settings.enable_dp_attention);
  values.Integer("--context-length", &settings.context_length);
  values.Integer("--max-total-tokens", &settings.max_total_tokens);
  values.Integer("--max-running-requests", &settings.max_running_requests);
  values.Integer("--chunked-prefill-size", &settings.chunked_prefill_size);
  values.Number("--mem-fraction-static", &settings.mem_fraction_static);
}

void ReadCache(ServeValues& values, Settings& settings) {
  values.Read("--kv-cache-dtype", ParseCacheType, &settings.kv_cache_dtype);
  values.Text("--attention-backend", &settings.attention_backend);
  values.Integer("--page-size", &settings.page_size);
  values.Switch("--disable-radix-cache", &settings.disable_radix_cache);
  values.Switch("--disable-overlap-schedule",
                &settings.disable_overlap_schedule);
  values.Number("--swa-full-tokens-ratio", &settings.swa_full_tokens_ratio);
  values.Switch("--disable-hybrid-swa-memory",
                &settings.disable_hybrid_swa_memory);
  values.Number("--mamba-full-memory-ratio", &settings.mamba_full_memory_ratio);
  values.Integer("--max-mamba-cache-size", &settings.max_mamba_cache_size);
  values.Read("--mamba-scheduler-strategy", ParseMambaStrategy,
              &settings.mamba_scheduler_strategy);
  values.Read("--mamba-ssm-dtype", ParseStateDtype, &settings.mamba_ssm_dtype);
  values.Read("--speculative-algorithm", ParseAlgorithm, &settings.speculative);
  values.Text("--speculative-draft-model-path",
              &settings.speculative_draft_model_path);
}

}  // namespace

absl::StatusOr<ServeArguments> ReadServeArguments(const ServeCommand& command) {
  ServeArguments arguments;
  ServeValues values(command);
  values.Text("--model-path", &arguments.model);
  values.Text("--json-model-override-args", &arguments.model_overrides);
  ReadSizes(values, arguments.settings);
  ReadCache(values, arguments.settings);
  if (!values.status().ok()) return values.status();
  // A negative size turns chunks off: a prompt is one step.
  std::optional<int64_t>& chunk = arguments.settings.chunked_prefill_size;
  if (chunk.has_value() && *chunk < 1) chunk.reset();
  // The engine drafts with the model itself when a draft path names it.
  if (arguments.settings.speculative_draft_model_path == arguments.model) {
    arguments.settings.speculative_draft_model_path.clear();
  }
  WarnOfUnmodelled(command, &arguments.warnings);
  if (absl::Status status = arguments.settings.Validate(); !status.ok()) {
    return status;
  }
  return arguments;
}

}  // namespace kvsim::sglang
