#include "engines/sglang/log_lines.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "engines/line_pattern.h"

namespace kvsim::sglang {
namespace {

// A draft model repeats most lines: the target's come first.
constexpr LinePattern kPatterns[] = {
    {"Load weight begin. avail mem={#} GB", "@avail_before_load_gb", true},
    {"Load weight end.{w}type={w},", "- @model_class", true},
    {"Load weight end.{w}dtype=torch.{w},", "- @dtype", true},
    {"Load weight end.{w}avail mem={#} GB, mem usage={#} GB",
     "- @avail_after_load_gb @weights_gb", true},
    {"Using KV cache dtype: torch.{w}", "config.cache_dtype"},
    {"Mamba Cache is allocated. max_mamba_cache_size: {#}, conv_state size: "
     "{#} GB, ssm_state size: {#} GB",
     "@mamba_slots @conv_gb @ssm_gb", true},
    {"intermediate_ssm_state_cache size: {#} GB "
     "intermediate_conv_window_cache size: {#} GB",
     "@intermediate_ssm_gb @intermediate_conv_gb", true},
    {"full_layer_tokens={#}, swa_layer_tokens={#}",
     "@full_layer_tokens @swa_layer_tokens", true},
    {"(all SWA). swa_layer_tokens={#}", "@swa_layer_tokens", true},
    {"SWAKVPool mem usage: {#} GB, swa size: {#}, full size: {#}",
     "@swa_pool_gb @swa_size @full_size", true},
    {"DSV4 pool sizes: full={#}, swa={#}, c4={#}, c128={#}, c4_state={#}, "
     "c128_state={#}",
     "@dsv4_full @dsv4_swa @dsv4_c4 @dsv4_c128 @dsv4_c4_state "
     "@dsv4_c128_state",
     true},
    {"Memory pool end. avail mem={#} GB", "@avail_after_pool_gb", true},
    {"graph end. Time elapsed: {#} s. mem usage={#} GB",
     "@graph_seconds @graph_gb", true},
    {"graph end. elapsed={#} s, mem usage={#} GB", "@graph_seconds @graph_gb",
     true},
    {"max_total_num_tokens={#}", "max_total_num_tokens"},
    {"chunked_prefill_size={#}, max_prefill_tokens={#}",
     "chunked_prefill_size max_prefill_tokens"},
    {"max_running_requests={#}", "max_running_requests"},
    {"context_len={#}", "context_len"},
    {"available_gpu_mem={#} GB", "available_gpu_mem_gb"},
    {"Use {w} backend by default", "backend"},
    {"Current value: mem_fraction_static={#}", "refusal.mem_fraction_static"},
    {"state cache is too small to serve any requests. "
     "max_mamba_cache_size={#}, mamba_ratio={#}, resulting max_num_reqs={#}",
     "refusal.mamba_slots refusal.mamba_ratio refusal.requests"},
};

// Python's list of arguments: "tp_size=2, ...". The names are the flags'.
constexpr absl::string_view kArguments[] = {"model_path",
                                            "tp_size",
                                            "pp_size",
                                            "dp_size",
                                            "enable_dp_attention",
                                            "kv_cache_dtype",
                                            "page_size",
                                            "context_length",
                                            "mem_fraction_static",
                                            "max_running_requests",
                                            "max_total_tokens",
                                            "chunked_prefill_size",
                                            "attention_backend",
                                            "disable_radix_cache",
                                            "disable_overlap_schedule",
                                            "swa_full_tokens_ratio",
                                            "mamba_full_memory_ratio",
                                            "max_mamba_cache_size",
                                            "speculative_algorithm",
                                            "speculative_draft_model_path"};

void ReadArguments(const LogMessage& message, StartupLog* log) {
  const absl::string_view text = message.text;
  const size_t from = text.find("ServerArgs(");
  if (from == absl::string_view::npos) return;
  for (const absl::string_view name : kArguments) {
    for (const char before : {'(', ' '}) {
      const std::string head = absl::StrCat(std::string(1, before), name, "=");
      const size_t at = text.find(head, from);
      if (at == absl::string_view::npos) continue;
      absl::string_view value = text.substr(at + head.size());
      if (absl::ConsumePrefix(&value, "'")) {
        value = value.substr(0, value.find('\''));
      } else {
        value = value.substr(0, value.find_first_of(",)"));
      }
      if (value == "None" || value.empty()) continue;
      const bool boolean = value == "True" || value == "False";
      log->Set(absl::StrCat("config.", name),
               boolean ? absl::AsciiStrToLower(value) : std::string(value),
               message.LineAt(at));
    }
  }
}

// "[2026-01-01 12:00:00 DP0 TP1 EP1]": "1"; "PP0_TP1" with stages.
std::string RankOf(absl::string_view text) {
  const size_t open = text.find("[20");
  if (open == absl::string_view::npos) return "0";
  const absl::string_view prefix =
      text.substr(open, text.find(']', open) - open);
  const auto number = [prefix](absl::string_view tag) {
    const size_t at = prefix.find(tag);
    if (at == absl::string_view::npos) return std::string();
    size_t end = at + tag.size();
    while (end < prefix.size() &&
           absl::ascii_isdigit(static_cast<unsigned char>(prefix[end]))) {
      ++end;
    }
    return std::string(prefix.substr(at + tag.size(), end - at - tag.size()));
  };
  std::string rank = number(" TP");
  if (rank.empty()) rank = "0";
  const std::string stage = number(" PP");
  if (!stage.empty()) rank = absl::StrCat("PP", stage, "_TP", rank);
  const std::string replica = number(" DP");
  // Under attention of data parallelism ranks are numbered through.
  return replica.empty() || replica == "0" || number(" TP") != ""
             ? rank
             : absl::StrCat("DP", replica, "_", rank);
}

// Sets the first of "", "draft_" and so on that is free. Windows and full rows
// are told apart when the line of both comes.
void SetRows(absl::string_view rank, absl::string_view suffixes,
             const PatternMatch& match, size_t first_gap, int64_t line,
             StartupLog* log) {
  for (const absl::string_view prefix : {"", "draft_", "more_"}) {
    const std::string path = absl::StrCat("ranks.", rank, ".", prefix);
    if (log->Find(path + "kv_tokens") != nullptr) continue;
    log->Set(path + "kv_tokens", match.gaps[first_gap], line);
    if (suffixes == "kv") {
      log->Set(path + "kv_gb", match.gaps[first_gap + 1], line);
    } else {
      log->Set(path + "k_gb", match.gaps[first_gap + 1], line);
      log->Set(path + "v_gb", match.gaps[first_gap + 2], line);
    }
    return;
  }
}

void ReadRows(const LogMessage& message, const std::string& rank,
              StartupLog* log) {
  ForEachMatch("KV Cache is allocated. dtype: {w}, #tokens:", message,
               [&](const PatternMatch& match, int64_t line) {
                 absl::string_view dtype = match.gaps[0];
                 absl::ConsumePrefix(&dtype, "torch.");
                 log->SetOnce("config.cache_dtype", dtype, line);
               });
  ForEachMatch("#tokens: {#}, K size: {#} GB, V size: {#} GB", message,
               [&](const PatternMatch& match, int64_t line) {
                 SetRows(rank, "k v", match, 0, line, log);
               });
  ForEachMatch("#tokens: {#}, KV size: {#} GB", message,
               [&](const PatternMatch& match, int64_t line) {
                 SetRows(rank, "kv", match, 0, line, log);
               });
}

}  // namespace

void LogLineReader::Read(const LogMessage& message, StartupLog* log) {
  const std::string rank = RankOf(message.text);
  ReadPatterns(kPatterns, message, rank, log);
  ReadArguments(message, log);
  ReadRows(message, rank, log);
  const size_t at = message.text.find("Not enough memory. Please try to");
  if (at != std::string::npos) {
    log->Set("refusal.kind", "no_memory", message.LineAt(at));
  }
  const LogFact* slots = log->Find("refusal.mamba_slots");
  if (slots != nullptr) log->Set("refusal.kind", "mamba_slots", slots->line);
  if (log->Find("refusal.kind") != nullptr) log->refused = true;
}

}  // namespace kvsim::sglang
