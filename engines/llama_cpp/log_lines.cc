#include "engines/llama_cpp/log_lines.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "engines/line_pattern.h"

namespace kvsim::llama_cpp {
namespace {

constexpr int kMostCaches = 256;

// A drafter's context repeats these; the model's comes first.
constexpr LinePattern kPatterns[] = {
    {"n_seq_max = {#}", "config.n_seq_max", true},
    {"n_ctx = {#}", "config.n_ctx", true},
    {"n_ctx_per_seq = {#}", "config.n_ctx_seq", true},
    {"n_ctx_seq = {#}", "config.n_ctx_seq", true},
    {"n_ctx_per_seq ({#}) < n_ctx_train ({#})",
     "config.n_ctx_seq config.n_ctx_train", true},
    {"n_ctx_seq ({#}) < n_ctx_train ({#})",
     "config.n_ctx_seq config.n_ctx_train", true},
    {"n_ctx_train = {#}", "config.n_ctx_train", true},
    {"n_batch = {#}", "config.n_batch", true},
    {"n_ubatch = {#}", "config.n_ubatch", true},
    {"flash_attn = {w}", "config.flash_attn", true},
    {"kv_unified = {w}", "config.kv_unified", true},
    {"offloaded {#}/{#} layers to GPU",
     "config.offloaded config.layers_plus_output", true},
    {"general.name = {w}", "config.model_name", true},
};

// The device before "KV buffer size", behind the last colon and blank: names
// may hold colons and brackets themselves.
std::string Device(absl::string_view before) {
  before = absl::StripTrailingAsciiWhitespace(before);
  const size_t blank = before.rfind(' ');
  return std::string(
      blank == absl::string_view::npos ? before : before.substr(blank + 1));
}

// "DEVICE {what} buffer size = N MiB", under "{name}.DEVICE".
void ReadBuffers(const LogMessage& message, absl::string_view what,
                 absl::string_view name, StartupLog* log) {
  ForEachMatch(
      absl::StrCat(" ", what, " buffer size = {#} MiB"), message,
      [&](const PatternMatch& match, int64_t line) {
        const std::string device =
            Device(absl::string_view(message.text).substr(0, match.begin));
        log->SetOnce(absl::StrCat(name, ".", device), match.gaps[0], line);
      });
}

// "llama_model_loader: loaded meta data ... from FILE (version GGUF V3)"
void ReadFile(const LogMessage& message, StartupLog* log) {
  ForEachMatch(
      "loaded meta data with {#} key-value pairs and {#} tensors from "
      "{w} (version",
      message, [&](const PatternMatch& match, int64_t line) {
        log->SetOnce("config.model", match.gaps[2], line);
      });
}

}  // namespace

std::string LogLineReader::Open(absl::string_view kind, int64_t line,
                                StartupLog* log) {
  if (!open_) {
    if (caches_ < kMostCaches) ++caches_;
    open_ = true;
    log->SetOnce(absl::StrCat("caches.", caches_ - 1, ".kind"), kind, line);
  }
  return absl::StrCat("caches.", caches_ - 1, ".");
}

void LogLineReader::ReadSize(absl::string_view text, int64_t line,
                             StartupLog* log) {
  PatternMatch match;
  const bool recurrent = absl::StrContains(text, "llama_memory_recurrent");
  if (MatchPattern("KV self size = {#} MiB, K ({w}): {#} MiB, V ({w}): {#} MiB",
                   text, 0, &match)) {
    const std::string cache = Open("kv", line, log);
    const char* const names[] = {"total_mib", "k_type", "k_mib", "v_type",
                                 "v_mib"};
    for (size_t i = 0; i < 5; ++i) {
      log->Set(absl::StrCat(cache, names[i]), match.gaps[i], line);
    }
    open_ = false;
    return;
  }
  if (!MatchPattern("size = {#} MiB ( {#} cells, {#} layers, {#}", text, 0,
                    &match)) {
    return;
  }
  const std::string cache = Open(recurrent ? "recurrent" : "kv", line, log);
  log->Set(cache + "total_mib", match.gaps[0], line);
  log->Set(cache + "cells", match.gaps[1], line);
  log->Set(cache + "layers", match.gaps[2], line);
  log->Set(cache + "seqs", match.gaps[3], line);
  const absl::string_view rest = text.substr(match.end);
  if (absl::StartsWith(rest, "/") &&
      MatchPattern("/{#} seqs", rest, 0, &match)) {
    log->Set(cache + "streams", match.gaps[0], line);
  }
  if (MatchPattern("seqs {#} rs_seq", rest, 0, &match)) {
    log->Set(cache + "rs_seq", match.gaps[0], line);
  }
  for (const absl::string_view part : {"K", "V", "R", "S", "P"}) {
    if (!MatchPattern(absl::StrCat(", ", part, " ({w}): {#} MiB"), rest, 0,
                      &match)) {
      continue;
    }
    const std::string name = part == "K"   ? "k"
                             : part == "V" ? "v"
                             : part == "R" ? "r"
                             : part == "S" ? "s"
                                           : "p";
    log->Set(absl::StrCat(cache, name, "_type"), match.gaps[0], line);
    log->Set(absl::StrCat(cache, name, "_mib"), match.gaps[1], line);
  }
  open_ = false;
}

void LogLineReader::ReadCaches(absl::string_view text, int64_t line,
                               StartupLog* log) {
  PatternMatch match;
  for (const absl::string_view kind : {"non-SWA", "SWA"}) {
    const std::string head =
        absl::StrCat("creating ", kind == "SWA" ? "    " : "", kind,
                     " KV cache, size = {#} cells");
    if (!MatchPattern(head, text, 0, &match)) continue;
    open_ = false;
    log->Set(absl::StrCat(Open(kind, line, log), "announced_cells"),
             match.gaps[0], line);
  }
  for (const absl::string_view what : {"KV", "RS"}) {
    if (!MatchPattern(absl::StrCat(" ", what, " buffer size = {#} MiB"), text,
                      0, &match)) {
      continue;
    }
    const std::string device = Device(text.substr(0, match.begin));
    const std::string buffer = absl::StrCat("buffers_mib.", device);
    const std::string kind = what == "RS" ? "recurrent" : "kv";
    // The same device again without a size between: the next cache.
    if (log->Find(Open(kind, line, log) + buffer) != nullptr) open_ = false;
    log->Set(Open(kind, line, log) + buffer, match.gaps[0], line);
  }
  ReadSize(text, line, log);
}

void LogLineReader::Read(const LogMessage& message, StartupLog* log) {
  ReadPatterns(kPatterns, message, "0", log);
  ReadBuffers(message, "model", "model_buffers_mib", log);
  ReadBuffers(message, "compute", "compute_mib", log);
  ReadBuffers(message, "output", "output_mib", log);
  ReadFile(message, log);
  for (const absl::string_view sign :
       {"KV buffer size", "RS buffer size", "KV cache, size", "KV self size",
        "llama_kv_cache", "llama_memory_recurrent"}) {
    if (!message.MayHold(sign)) continue;
    ReadCaches(message.text, message.LineAt(0), log);
    return;
  }
}

}  // namespace kvsim::llama_cpp
