#include "tools/log_settings.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace kvsim {
namespace {

// A fact that is a flag's value as it stands.
struct Named {
  absl::string_view fact;
  absl::string_view flag;
};

constexpr Named kVllm[] = {
    {"config.pp", "--pipeline-parallel-size"},
    {"config.dcp", "--decode-context-parallel-size"},
    {"config.pcp", "--prefill-context-parallel-size"},
    {"config.dtype", "--dtype"},
    {"config.max_num_batched_tokens", "--max-num-batched-tokens"},
    {"config.max_num_seqs", "--max-num-seqs"},
    {"config.block_size", "--block-size"},
    {"config.mamba_cache_mode", "--mamba-cache-mode"},
    {"config.mamba_ssm_cache_dtype", "--mamba-ssm-cache-dtype"},
};

constexpr Named kSglang[] = {
    {"config.tp_size", "--tp-size"},
    {"config.pp_size", "--pp-size"},
    {"config.dp_size", "--dp-size"},
    {"config.page_size", "--page-size"},
    {"config.mem_fraction_static", "--mem-fraction-static"},
    {"config.max_running_requests", "--max-running-requests"},
    {"config.attention_backend", "--attention-backend"},
    {"config.swa_full_tokens_ratio", "--swa-full-tokens-ratio"},
    {"config.mamba_full_memory_ratio", "--mamba-full-memory-ratio"},
    {"config.speculative_algorithm", "--speculative-algorithm"},
    {"config.speculative_draft_model_path", "--speculative-draft-model-path"},
};

constexpr Named kSglangSwitches[] = {
    {"config.enable_dp_attention", "--enable-dp-attention"},
    {"config.disable_radix_cache", "--disable-radix-cache"},
    {"config.disable_overlap_schedule", "--disable-overlap-schedule"},
};

constexpr Named kLlama[] = {
    {"config.n_batch", "--batch-size"},
    {"config.n_ubatch", "--ubatch-size"},
    {"config.n_seq_max", "--parallel"},
};

constexpr Named kTensorrt[] = {
    {"config.max_num_tokens", "--max-num-tokens"},
    {"config.max_attention_window", "--max-attention-window"},
    {"ranks.0.tokens_per_block", "--tokens-per-block"},
};

// kvsim's flags and the engines' that mean the same.
struct Same {
  std::string CapacityFlags::*text;
  absl::string_view flags;  // separated by blanks
};

constexpr Same kSame[] = {
    {&CapacityFlags::max_model_len,
     " --max-model-len --context-length --ctx-size --max-seq-len "},
    {&CapacityFlags::tensor, " --tensor-parallel-size --tp-size "},
    {&CapacityFlags::pipeline, " --pipeline-parallel-size --pp-size "},
    {&CapacityFlags::decode_context, " --decode-context-parallel-size "},
    {&CapacityFlags::kv_cache_dtype,
     " --kv-cache-dtype --cache-type-k --cache-type-v "},
    {&CapacityFlags::block_size,
     " --block-size --page-size --tokens-per-block "},
    {&CapacityFlags::max_num_batched_tokens,
     " --max-num-batched-tokens --chunked-prefill-size --batch-size "
     "--max-num-tokens "},
    {&CapacityFlags::max_num_seqs,
     " --max-num-seqs --max-running-requests --parallel "},
    {&CapacityFlags::prefix_caching, " --enable-prefix-caching "},
    {&CapacityFlags::gpu_memory_utilization,
     " --gpu-memory-utilization --mem-fraction-static "},
    {&CapacityFlags::state_mode, " --mamba-cache-mode "},
    {&CapacityFlags::state_dtype, " --mamba-ssm-cache-dtype "},
    {&CapacityFlags::attention_backend, " --attention-backend "},
};

class Collector {
 public:
  Collector(const StartupLog& log, LogSettings* settings)
      : log_(log), settings_(settings) {}

  void Add(absl::string_view flag, absl::string_view value, int64_t line) {
    settings_->given.push_back({std::string(flag), std::string(value), line});
  }

  // The first of the facts that was printed; true when there was one.
  bool AddFirst(absl::string_view flag,
                std::initializer_list<absl::string_view> facts) {
    for (const absl::string_view name : facts) {
      const LogFact* fact = log_.Find(name);
      if (fact == nullptr || fact->text == "auto") continue;
      Add(flag, fact->text, fact->line);
      return true;
    }
    return false;
  }

  template <size_t kSize>
  void AddAll(const Named (&named)[kSize]) {
    for (const Named& one : named) AddFirst(one.flag, {one.fact});
  }

  template <size_t kSize>
  void AddSwitches(const Named (&named)[kSize]) {
    for (const Named& one : named) {
      const LogFact* fact = log_.Find(one.fact);
      if (fact != nullptr && fact->text == "true")
        Add(one.flag, "", fact->line);
    }
  }

 private:
  const StartupLog& log_;
  LogSettings* settings_;
};

// Tensor ranks that printed something of their own.
int64_t TensorRanks(const StartupLog& log) {
  std::set<std::string> ranks;
  for (const std::string& rank : log.Children("ranks.")) {
    if (absl::StartsWith(rank, "DP")) continue;
    const size_t tensor = rank.find("_TP");
    ranks.insert(tensor == std::string::npos ? rank : rank.substr(tensor + 3));
  }
  return static_cast<int64_t>(ranks.size());
}

void AddTensor(const StartupLog& log, absl::string_view flag,
               LogSettings& settings) {
  const int64_t ranks = TensorRanks(log);
  if (ranks <= 1) return;
  settings.given.push_back({std::string(flag), absl::StrCat(ranks), 0});
  settings.notes.push_back(
      absl::StrCat(flag, " ", ranks, ": not printed; ", ranks,
                   " tensor ranks have lines of their own"));
}

void SetVllmVersion(const StartupLog& log, LogSettings& settings) {
  settings.version = log.Text("engine_version");
  if (settings.version.empty()) {
    settings.version = log.Text("api_server_version");
  }
  const bool previous = log.Text("api") == "V0";
  if (!settings.version.empty()) {
    if (previous) settings.switches.push_back("engine=v0");
    return;
  }
  std::string why;
  if (previous) {
    settings.version = log.Text("block_line") == "GPU" ? "0.6.6" : "0.7.3";
    why = "its lines are those of V0";
  } else if (log.Find("kv_line_pairs") != nullptr) {
    settings.version = "0.11.0";
    why = "it prints a pair of sizes for every worker";
  } else if (log.Text("style") == "two-line") {
    settings.version = "2026-04-21";
    why = "size and concurrency are two lines";
  } else {
    why = "nothing in it is older";
  }
  settings.notes.push_back(absl::StrCat(
      "the log names no version: taken as ",
      settings.version.empty() ? "the newest rules" : settings.version,
      ", because ", why, "; --engine-version decides"));
}

void AddSpeculation(const StartupLog& log, LogSettings& settings) {
  const LogFact* tokens = log.Find("config.spec_tokens");
  const std::string method = log.Text("config.spec_method");
  if (tokens == nullptr || method.empty()) return;
  settings.given.push_back(
      {"--speculative-config",
       absl::StrCat("{\"method\": \"", method,
                    "\", \"num_speculative_tokens\": ", tokens->text, "}"),
       tokens->line});
}

void ReadVllm(const StartupLog& log, LogSettings& settings) {
  Collector collector(log, &settings);
  settings.model = log.Text("config.model");
  SetVllmVersion(log, settings);
  collector.AddFirst("--max-model-len", {"fitted_max_len", "config.max_seq_len",
                                         "conc_tokens", "refusal.max_seq_len"});
  if (!collector.AddFirst("--tensor-parallel-size", {"config.tp"})) {
    AddTensor(log, "--tensor-parallel-size", settings);
  }
  collector.AddAll(kVllm);
  if (!collector.AddFirst("--kv-cache-dtype", {"config.kv_cache_dtype"}) &&
      log.Find("config.kv_cache_dtype") == nullptr) {
    collector.AddFirst("--kv-cache-dtype", {"config.stored_kv_dtype"});
  }
  collector.AddFirst("--gpu-memory-utilization",
                     {"config.util", "ranks.0.util"});
  const LogFact* caching = log.Find("config.prefix_caching");
  if (caching != nullptr) {
    collector.Add(caching->text == "true" ? "--enable-prefix-caching"
                                          : "--no-enable-prefix-caching",
                  "", caching->line);
  }
  AddSpeculation(log, settings);
}

void ReadSglang(const StartupLog& log, LogSettings& settings) {
  Collector collector(log, &settings);
  settings.model = log.Text("config.model_path");
  if (log.Find("config.tp_size") == nullptr) {
    AddTensor(log, "--tp-size", settings);
  }
  collector.AddAll(kSglang);
  collector.AddSwitches(kSglangSwitches);
  collector.AddFirst("--context-length", {"context_len"});
  const LogFact* chunk = log.Find("chunked_prefill_size");
  if (chunk != nullptr && !absl::StartsWith(chunk->text, "-")) {
    collector.Add("--chunked-prefill-size", chunk->text, chunk->line);
  }
  const std::string stored = log.Text("config.cache_dtype");
  if (!collector.AddFirst("--kv-cache-dtype", {"config.kv_cache_dtype"}) &&
      absl::StartsWith(stored, "float8")) {
    collector.Add("--kv-cache-dtype",
                  absl::StrContains(stored, "e5m2") ? "fp8_e5m2" : "fp8_e4m3",
                  log.Find("config.cache_dtype")->line);
  }
  collector.AddFirst("--max-mamba-cache-size", {"ranks.0.mamba_slots"});
}

void ReadLlama(const StartupLog& log, LogSettings& settings) {
  Collector collector(log, &settings);
  settings.model = log.Text("config.model");
  collector.AddAll(kLlama);
  const int64_t sequences =
      log.Integer("config.n_seq_max")
          .value_or(log.Integer("caches.0.seqs").value_or(1));
  const LogFact* seqs = log.Find("caches.0.seqs");
  if (log.Find("config.n_seq_max") == nullptr && seqs != nullptr) {
    collector.Add("--parallel", seqs->text, seqs->line);
  }
  const auto streams = log.Integer("caches.0.streams");
  const bool unified = streams == 1 && sequences > 1;
  if (unified) {
    collector.Add("--kv-unified", "", log.Find("caches.0.streams")->line);
  }
  const LogFact* each = log.Find("config.n_ctx_seq");
  const auto cells = log.Integer("caches.0.cells");
  if (!collector.AddFirst("--ctx-size", {"config.n_ctx"})) {
    const int64_t parts = unified ? 1 : sequences;
    if (each != nullptr && log.Integer("config.n_ctx_seq").has_value()) {
      collector.Add("--ctx-size",
                    absl::StrCat(*log.Integer("config.n_ctx_seq") * parts),
                    each->line);
    } else if (cells.has_value()) {
      collector.Add("--ctx-size",
                    absl::StrCat(*cells * streams.value_or(parts)),
                    log.Find("caches.0.cells")->line);
    }
  }
  collector.AddFirst("--cache-type-k", {"caches.0.k_type"});
  collector.AddFirst("--cache-type-v", {"caches.0.v_type"});
  const LogFact* attention = log.Find("config.flash_attn");
  const std::string value = attention == nullptr ? "" : attention->text;
  if (value == "1" || value == "enabled") {
    collector.Add("--flash-attn", "on", attention->line);
  } else if (value == "0" || value == "disabled") {
    collector.Add("--flash-attn", "off", attention->line);
  }
}

void ReadTensorrt(const StartupLog& log, LogSettings& settings) {
  Collector collector(log, &settings);
  settings.version = log.Text("engine_version");
  collector.AddAll(kTensorrt);
  const auto longest = log.Integer("config.max_input_len");
  if (!collector.AddFirst("--max-seq-len", {"config.max_seq_len"}) &&
      longest.has_value()) {
    collector.Add("--max-seq-len", absl::StrCat(*longest + 1),
                  log.Find("config.max_input_len")->line);
  }
  AddTensor(log, "--tp-size", settings);
}

}  // namespace

LogSettings SettingsOfLog(const StartupLog& log) {
  LogSettings settings;
  if (log.engine == "vllm") ReadVllm(log, settings);
  if (log.engine == "sglang") ReadSglang(log, settings);
  if (log.engine == "llama.cpp") ReadLlama(log, settings);
  if (log.engine == "tensorrt-llm") ReadTensorrt(log, settings);
  return settings;
}

bool IsGiven(const CapacityFlags& flags, absl::string_view flag) {
  if (flag == "--no-enable-prefix-caching") flag = "--enable-prefix-caching";
  const std::string word = absl::StrCat(" ", flag, " ");
  return std::any_of(std::begin(kSame), std::end(kSame), [&](const Same& same) {
    return absl::StrContains(same.flags, word) && !(flags.*same.text).empty();
  });
}

}  // namespace kvsim
