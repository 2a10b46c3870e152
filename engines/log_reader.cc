#include "engines/log_reader.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engines/llama_cpp/log_lines.h"
#include "engines/log_lines.h"
#include "engines/sglang/log_lines.h"
#include "engines/tensorrt_llm/log_lines.h"
#include "engines/vllm/log_lines.h"

namespace kvsim {
namespace {

// Facts about a cache, beside settings and weights.
constexpr absl::string_view kCacheFacts[] = {"kv_tokens",
                                             "max_concurrency",
                                             "num_gpu_blocks",
                                             "refusal.",
                                             "caches.",
                                             ".kv_tokens",
                                             ".kv_gb",
                                             ".primary_blocks",
                                             ".mamba_slots",
                                             ".dsv4_full",
                                             "max_total_num_tokens",
                                             ".available_kv_gib"};

bool SaysSomething(const StartupLog& log) {
  return std::any_of(
      log.facts().begin(), log.facts().end(), [](const LogFact& fact) {
        return std::any_of(std::begin(kCacheFacts), std::end(kCacheFacts),
                           [&](absl::string_view name) {
                             return absl::StrContains(fact.name, name);
                           });
      });
}

constexpr char kAccepted[] =
    "accepted: a log of vLLM (\"GPU KV cache size: ... tokens\", \"# GPU "
    "blocks: ...\", \"To serve at least one request ...\"), SGLang (\"KV Cache "
    "is allocated ...\"), TensorRT-LLM (\"Number of blocks in KV cache primary "
    "pool: ...\") or llama.cpp (\"llama_kv_cache: size = ... MiB\")";

}  // namespace

absl::StatusOr<StartupLog> ReadStartupLog(std::istream& stream,
                                          absl::string_view name) {
  StartupLog vllm, sglang, llama, tensorrt;
  vllm.engine = "vllm";
  sglang.engine = "sglang";
  llama.engine = "llama.cpp";
  tensorrt.engine = "tensorrt-llm";
  vllm::LogLineReader vllm_reader;
  sglang::LogLineReader sglang_reader;
  llama_cpp::LogLineReader llama_reader;
  tensorrt_llm::LogLineReader tensorrt_reader;

  LogLines lines(stream);
  LogMessage message;
  while (lines.Next(&message)) {
    vllm_reader.Read(message, &vllm);
    sglang_reader.Read(message, &sglang);
    llama_reader.Read(message, &llama);
    tensorrt_reader.Read(message, &tensorrt);
  }
  // A size behind a refusal: the start was tried again.
  if (vllm.Find("kv_tokens") != nullptr) vllm.refused = false;

  StartupLog* best = nullptr;
  for (StartupLog* log : {&vllm, &sglang, &llama, &tensorrt}) {
    if (!SaysSomething(*log)) continue;
    if (best == nullptr || log->facts().size() > best->facts().size()) {
      best = log;
    }
  }
  if (best != nullptr) return std::move(*best);
  return absl::InvalidArgumentError(
      lines.count() == 0
          ? absl::StrCat(name, ": is empty; ", kAccepted)
          : absl::StrCat(name, ": lines 1 to ", lines.count(),
                         " say nothing about a cache (is the log cut off "
                         "before it?); ",
                         kAccepted));
}

absl::StatusOr<StartupLog> ReadStartupLogFile(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is a folder; a log file is accepted"));
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    return absl::NotFoundError(absl::StrCat(path, ": cannot be opened"));
  }
  return ReadStartupLog(stream, path);
}

}  // namespace kvsim
