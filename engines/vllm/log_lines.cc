#include "engines/vllm/log_lines.h"

#include <span>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "engines/line_pattern.h"

namespace kvsim::vllm {
namespace {

constexpr int64_t kMostPairs = 1024;

constexpr LinePattern kPatterns[] = {
    // Weights, profile, graphs.
    {"Loading model weights took {#} GB", "@weights_gb_printed"},
    {"Model loading took {#} GB and {#} seconds",
     "@weights_gb_printed @load_seconds"},
    {"Model loading took {#} GiB{? memory} and {#} seconds",
     "@weights_gib @load_seconds"},
    {"Memory profiling takes {#} seconds", "@profile_seconds"},
    {"total_gpu_memory ({#}GiB) x gpu_memory_utilization ({#}) = {#}GiB",
     "@device_total_gib @util @requested_gib"},
    {"model weights take {#}GiB; non_torch_memory takes {#}GiB; PyTorch "
     "activation peak memory takes {#}GiB; the rest of the memory reserved for "
     "KV Cache is {#}GiB",
     "@usage_weight_gib @non_torch_gib @peak_activation_gib "
     "@available_kv_gib"},
    {"Available KV cache memory: {#} GiB", "@available_kv_gib"},
    {"Initial free memory {#} GiB, reserved {#} GiB memory for KV Cache",
     "@device_free_gib @available_kv_gib"},
    {"Estimated CUDA graph memory: {#} GiB total", "@graph_estimated_gib"},
    {"Graph capturing finished in {#} secs, took {#} GiB", "- @graph_gib"},
    {"difference: {#} GiB ({#}%)", "@graph_diff_gib @graph_diff_pct"},
    {"Free memory on device{w}({#}/{#} GiB) on startup. Desired GPU memory "
     "utilization is ({#}, {#} GiB)",
     "- @device_free_gib @device_total_gib @util @requested_gib"},
    {"Actual usage is {#} GiB for weight, {#} GiB for peak activation, {#} GiB "
     "for non-torch memory",
     "@usage_weight_gib @peak_activation_gib @non_torch_gib"},
    {"Actual usage is {#} GiB for consumed memory (weights + non-torch), {#} "
     "GiB for peak activation",
     "@usage_consumed_gib @peak_activation_gib"},
    {"`--kv-cache-memory={#}`{w}to fit into requested memory, or "
     "`--kv-cache-memory={#}`",
     "@suggest_fit_bytes - @suggest_full_bytes"},
    {"Current kv cache memory in use is {#} bytes", "@kv_in_use_bytes"},
    {"Current kv cache memory in use is {#} GiB", "@kv_in_use_gib"},

    // Layout.
    {"Setting attention block size to {#} tokens", "block_size"},
    {"Padding mamba page size by {#}%", "mamba_page_pad_pct"},
    {"Auto-fit max_model_len: reduced from {#} to {#} to fit in",
     "asked_max_len fitted_max_len"},
    {"Auto-fit max_model_len: full model context length {#} fits",
     "fitted_max_len"},
    {"num_gpu_blocks is: {#}", "num_gpu_blocks"},
    {"Mamba cache mode is set to '{w}' for", "config.mamba_cache_mode"},

    // Settings.
    {"Using max model len {#}", "config.max_seq_len"},
    {"max_num_batched_tokens={#}", "config.max_num_batched_tokens"},
    {"Using {w} attention backend out of", "backend"},
    {"Using AttentionBackendEnum.{w} backend", "backend"},
    {"Using {w} data type to store kv cache", "config.stored_kv_dtype"},
    {"Initializing a V1 LLM engine (v{w}) with config:", "engine_version"},
    {"Initializing an LLM engine (v{w}) with config:", "engine_version"},
    {"vLLM API server version {w}", "api_server_version"},
    {"Resolved architecture: {w}", "architecture"},

    // Refusals.
    {"max seq len ({#}), ({#} GiB KV cache is needed, which is larger than the "
     "available KV cache memory ({#} GiB",
     "refusal.max_seq_len refusal.needed_gib refusal.available_gib"},
    {"max seq len ({#}), {#} GiB KV cache is needed, which is larger than the "
     "available KV cache memory ({#} GiB",
     "refusal.max_seq_len refusal.needed_gib refusal.available_gib"},
    {"the estimated maximum model length is {#}", "refusal.estimated_max_len"},
    {"The model's max seq len ({#}) is larger than the maximum number of "
     "tokens that can be stored in KV cache ({#})",
     "refusal.max_seq_len refusal.estimated_max_len"},
    {"max_num_seqs ({#}) exceeds available Mamba cache blocks ({#})",
     "refusal.max_num_seqs refusal.mamba_blocks"},
};

// What the settings printed at the start are called here.
struct Setting {
  absl::string_view begin;
  absl::string_view name;
};

constexpr Setting kInitial[] = {
    {"model=", "config.model"},
    {"dtype=", "config.dtype"},
    {"max_seq_len=", "config.max_seq_len"},
    {"tensor_parallel_size=", "config.tp"},
    {"pipeline_parallel_size=", "config.pp"},
    {"data_parallel_size=", "config.dp"},
    {"decode_context_parallel_size=", "config.dcp"},
    {"prefill_context_parallel_size=", "config.pcp"},
    {"quantization=", "config.quantization"},
    {"kv_cache_dtype=", "config.kv_cache_dtype"},
    {"enable_prefix_caching=", "config.prefix_caching"},
    {"enforce_eager=", "config.enforce_eager"},
    {"method=", "config.spec_method"},
    {"num_spec_tokens=", "config.spec_tokens"},
};

// Python's dictionary of what was not the default.
constexpr Setting kNonDefault[] = {
    {"'model': ", "config.model"},
    {"'model_tag': ", "config.model"},
    {"'dtype': ", "config.dtype"},
    {"'max_model_len': ", "config.max_seq_len"},
    {"'tensor_parallel_size': ", "config.tp"},
    {"'pipeline_parallel_size': ", "config.pp"},
    {"'data_parallel_size': ", "config.dp"},
    {"'decode_context_parallel_size': ", "config.dcp"},
    {"'kv_cache_dtype': ", "config.kv_cache_dtype"},
    {"'enable_prefix_caching': ", "config.prefix_caching"},
    {"'enforce_eager': ", "config.enforce_eager"},
    {"'max_num_seqs': ", "config.max_num_seqs"},
    {"'max_num_batched_tokens': ", "config.max_num_batched_tokens"},
    {"'gpu_memory_utilization': ", "config.util"},
    {"'block_size': ", "config.block_size"},
    {"'async_scheduling': ", "config.async_scheduling"},
    {"'mamba_ssm_cache_dtype': ", "config.mamba_ssm_cache_dtype"},
    {"'mamba_cache_mode': ", "config.mamba_cache_mode"},
    {"'method': ", "config.spec_method"},
    {"'num_speculative_tokens': ", "config.spec_tokens"},
};

// "'a/b'" and "torch.float16" without what Python writes around them; "True"
// and "False" in lower case.
std::string Plain(absl::string_view value) {
  if (!value.empty() && (value[0] == '\'' || value[0] == '"')) {
    const size_t close = value.find(value[0], 1);
    return std::string(value.substr(1, close - 1));
  }
  absl::ConsumePrefix(&value, "torch.");
  value = value.substr(0, value.find_first_of(", )}"));
  if (value == "True" || value == "False") return absl::AsciiStrToLower(value);
  return std::string(value);
}

bool IsName(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
}

void ReadSettings(const LogMessage& message, absl::string_view head,
                  std::span<const Setting> settings, StartupLog* log) {
  const absl::string_view text = message.text;
  const size_t from = text.find(head);
  if (from == absl::string_view::npos) return;
  for (const Setting& setting : settings) {
    size_t at = text.find(setting.begin, from);
    // "dtype=" is also the end of "kv_cache_dtype=".
    while (at != absl::string_view::npos && at > 0 && IsName(text[at - 1])) {
      at = text.find(setting.begin, at + 1);
    }
    if (at == absl::string_view::npos) continue;
    const std::string value = Plain(text.substr(at + setting.begin.size()));
    if (value == "None" || value.empty()) continue;
    log->Set(setting.name, value, message.LineAt(at));
  }
}

// The digits behind `tag` in `tags`; "" when the tag is missing.
std::string TagNumber(absl::string_view tags, absl::string_view tag) {
  const size_t at = tags.find(tag);
  if (at == absl::string_view::npos) return "";
  size_t end = at + tag.size();
  while (end < tags.size() &&
         absl::ascii_isdigit(static_cast<unsigned char>(tags[end]))) {
    ++end;
  }
  return std::string(tags.substr(at + tag.size(), end - at - tag.size()));
}

// The rank that a prefix names, "0" for a prefix without one.
std::string RankOf(absl::string_view text) {
  const size_t pid = text.find(" pid=");
  if (pid == absl::string_view::npos) return "0";
  const size_t open = text.rfind('(', pid);
  if (open == absl::string_view::npos) return "0";
  const absl::string_view tags = text.substr(open + 1, pid - open - 1);
  std::string rank = TagNumber(tags, "_TP");
  if (rank.empty()) rank = TagNumber(tags, "rank=");
  if (rank.empty() && absl::StartsWith(tags, "VllmWorkerProcess")) {
    rank = absl::StrCat("worker",
                        text.substr(pid + 5, text.find(')', pid) - pid - 5));
  }
  const std::string stage = TagNumber(tags, "_PP");
  if (!stage.empty()) {
    rank = absl::StrCat("PP", stage, "_TP", rank.empty() ? "0" : rank);
  }
  const std::string replica = TagNumber(tags, "_DP");
  if (!replica.empty() && replica != "0") {
    rank = absl::StrCat("DP", replica, "_", rank.empty() ? "0" : rank);
  }
  return rank.empty() ? "0" : rank;
}

void ReadBackend(const LogMessage& message, StartupLog* log) {
  const size_t at = message.text.find("Using Flash Attention backend");
  if (at == std::string::npos) return;
  log->Set("backend", "Flash Attention", message.LineAt(at));
}

void ReadPrevious(const LogMessage& message, StartupLog* log) {
  if (!message.MayHold(" blocks: ")) return;
  ForEachMatch("# {w} blocks: {#}", message,
               [&](const PatternMatch& match, int64_t line) {
                 if (match.gaps[0] == "CPU") return;
                 log->Set("num_gpu_blocks", match.gaps[1], line);
                 log->Set("block_line", match.gaps[0], line);
               });
  ForEachMatch("# CPU blocks: {#}", message,
               [&](const PatternMatch& match, int64_t line) {
                 log->Set("num_cpu_blocks", match.gaps[0], line);
                 log->Set("api", "V0", line);
                 log->Set("style", "V0", line);
               });
}

// Graph profiling plans a pool that it throws away.
void ReadOverride(const LogMessage& message, StartupLog* log) {
  ForEachMatch(
      "Overriding num_gpu_blocks={#} with "
      "num_gpu_blocks_override={#}",
      message, [&](const PatternMatch& match, int64_t line) {
        const bool profiling = match.gaps[0] == "0";
        const std::string name =
            profiling ? "profiling_override." : "override.";
        log->Set(absl::StrCat(name, "from"), match.gaps[0], line);
        log->Set(absl::StrCat(name, "to"), match.gaps[1], line);
      });
}

// Once for every bucket, and all again after graph profiling.
void ReadPadding(const LogMessage& message, StartupLog* log) {
  ForEachMatch("Add {#} padding layers, may waste at most {#}% KV cache memory",
               message, [&](const PatternMatch& match, int64_t line) {
                 for (int i = 0; i < 64; ++i) {
                   const std::string name = absl::StrCat("padding.", i, ".");
                   const std::string layers = log->Text(name + "layers");
                   if (layers == match.gaps[0] &&
                       log->Text(name + "waste_pct") == match.gaps[1]) {
                     return;
                   }
                   if (!layers.empty()) continue;
                   log->Set(name + "layers", match.gaps[0], line);
                   log->Set(name + "waste_pct", match.gaps[1], line);
                   return;
                 }
               });
}

void ReadRefusal(const LogMessage& message, StartupLog* log) {
  const char* const no_memory = "No available memory for the cache";
  const size_t at = message.text.find(no_memory);
  if (at != std::string::npos) {
    log->Set("refusal.kind", "no_memory", message.LineAt(at));
  } else if (log->Find("refusal.max_num_seqs") != nullptr) {
    log->SetOnce("refusal.kind", "mamba_blocks",
                 log->Find("refusal.max_num_seqs")->line);
  } else if (log->Find("refusal.max_seq_len") != nullptr) {
    log->SetOnce("refusal.kind", "max_model_len",
                 log->Find("refusal.max_seq_len")->line);
  }
  if (log->Find("refusal.kind") != nullptr) log->refused = true;
}

}  // namespace

void LogLineReader::ReadSizes(const LogMessage& message, StartupLog* log) {
  // A pool that is larger than one read before is another rank's.
  const auto smaller = [&](absl::string_view name, absl::string_view text) {
    StartupLog parsed;
    parsed.Set("x", text, 0);
    const auto before = log->Number(name);
    const auto now = parsed.Number("x");
    return !before.has_value() || (now.has_value() && *now <= *before);
  };
  ForEachMatch(
      "GPU KV cache size: {#} tokens", message,
      [&](const PatternMatch& match, int64_t line) {
        if (pairs_ >= kMostPairs) return;
        open_ = true;
        log->Set(absl::StrCat("pairs.", pairs_, ".kv_tokens"), match.gaps[0],
                 line);
        ++pairs_;
        log->Set("api", "v1", line);
        const bool one_line = absl::StrContains(
            absl::string_view(message.text).substr(match.end, 12), ", Maximum");
        log->Set("style", one_line ? "combined-line" : "two-line", line);
        if (smaller("kv_tokens", match.gaps[0])) {
          log->Set("kv_tokens", match.gaps[0], line);
        }
        if (pairs_ > 1) {
          log->Set("kv_line_pairs", absl::StrCat(pairs_), line);
        }
      });
  ForEachMatch("Maximum concurrency for {#} tokens per request: {#}x", message,
               [&](const PatternMatch& match, int64_t line) {
                 log->Set("conc_tokens", match.gaps[0], line);
                 if (open_) {
                   log->Set(absl::StrCat("pairs.", pairs_ - 1, ".concurrency"),
                            match.gaps[1], line);
                 }
                 open_ = false;
                 if (smaller("max_concurrency", match.gaps[1])) {
                   log->Set("max_concurrency", match.gaps[1], line);
                 }
               });
}

void LogLineReader::Read(const LogMessage& message, StartupLog* log) {
  ReadPatterns(kPatterns, message, RankOf(message.text), log);
  ReadSettings(message, "non-default args: ", kNonDefault, log);
  ReadSettings(message, "LLM engine (v", kInitial, log);
  ReadSizes(message, log);
  ReadBackend(message, log);
  ReadPrevious(message, log);
  ReadOverride(message, log);
  ReadPadding(message, log);
  ReadRefusal(message, log);
  if (absl::StrContains(message.text, "Initializing an LLM engine (v")) {
    log->Set("api", "V0", message.LineAt(0));
  }
  if (absl::StrContains(message.text, "Initializing a V1 LLM engine")) {
    log->Set("api", "v1", message.LineAt(0));
  }
  if (absl::StrContains(message.text, "Cudagraph is disabled")) {
    log->Set("config.cudagraph", "disabled", message.LineAt(0));
  }
  if (log->refused) log->SetOnce("api", "v1", message.LineAt(0));
}

}  // namespace kvsim::vllm
