#include "engines/llama_cpp/serve_arguments.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engines/serve_values.h"

namespace kvsim::llama_cpp {
namespace {

absl::StatusOr<FlashAttention> ParseFlashAttention(absl::string_view text) {
  if (text == "on" || text == "1" || text == "enabled") {
    return FlashAttention::kOn;
  }
  if (text == "off" || text == "0" || text == "disabled") {
    return FlashAttention::kOff;
  }
  if (text == "auto" || text == "-1") return FlashAttention::kAuto;
  return absl::InvalidArgumentError("accepted: on, off, auto");
}

// None: all layers, as "auto" and "all" mean and negative numbers do.
absl::StatusOr<std::optional<int64_t>> ParseGpuLayers(absl::string_view text) {
  if (text == "auto" || text == "all") return std::optional<int64_t>();
  const absl::StatusOr<int64_t> layers = ParseServeInteger(text);
  if (!layers.ok()) {
    return absl::InvalidArgumentError("expected an integer, auto or all");
  }
  if (*layers < 0) return std::optional<int64_t>();
  return std::optional<int64_t>(*layers);
}

void ReadContext(const ServeCommand& command, ServeValues& values,
                 Settings& settings) {
  values.Integer("--ctx-size", &settings.ctx_size);
  values.Integer("--batch-size", &settings.batch_size);
  values.Integer("--ubatch-size", &settings.ubatch_size);
  values.Integer("--parallel", &settings.parallel);
  values.Switch("--kv-unified", &settings.kv_unified);
  if (command.Find("-no-kvu") != nullptr) settings.kv_unified = false;
  values.Switch("--swa-full", &settings.swa_full);
}

void ReadCaches(const ServeCommand& command, ServeValues& values,
                Settings& settings) {
  values.Read("--cache-type-k", ParseCacheType, &settings.cache_type_k);
  values.Read("--cache-type-v", ParseCacheType, &settings.cache_type_v);
  values.Read("--flash-attn", ParseFlashAttention, &settings.flash_attn);
  values.Read("--gpu-layers", ParseGpuLayers, &settings.gpu_layers);
  values.Switch("--kv-offload", &settings.kv_offload);
  if (command.Find("-nkvo") != nullptr) settings.kv_offload = false;
}

void ReadDrafts(ServeValues& values, Settings& settings) {
  values.Integer("--draft-max", &settings.draft_max);
  values.Text("--hf-repo-draft", &settings.draft_model);
  values.Text("--model-draft", &settings.draft_model);
  values.Integer("--ctx-size-draft", &settings.draft_ctx_size);
  values.Read("--cache-type-k-draft", ParseCacheType, &settings.draft_type_k);
  values.Read("--cache-type-v-draft", ParseCacheType, &settings.draft_type_v);
}

}  // namespace

absl::StatusOr<ServeArguments> ReadServeArguments(const ServeCommand& command) {
  ServeArguments arguments;
  ServeValues values(command);
  values.Text("--hf-repo", &arguments.model);
  values.Text("--model", &arguments.model);
  ReadContext(command, values, arguments.settings);
  ReadCaches(command, values, arguments.settings);
  ReadDrafts(values, arguments.settings);
  if (!values.status().ok()) return values.status();
  // Servers that choose the number of sequences take four that share a stream.
  if (arguments.settings.parallel == -1) {
    arguments.settings.parallel = 4;
    arguments.settings.kv_unified = true;
  }
  WarnOfUnmodelled(command, &arguments.warnings);
  if (absl::Status status = arguments.settings.Validate(); !status.ok()) {
    return status;
  }
  return arguments;
}

}  // namespace kvsim::llama_cpp
