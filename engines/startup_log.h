// What an engine's start-up log printed: facts by name, each with its text and
// its line.
//
// Model:   a fact's name is a path: "kv_tokens", "config.max_seq_len",
//          "ranks.1.available_kv_gib", "caches.0.k_mib". Units end the names.
//          Texts are as printed, without commas between thousands, so that the
//          printed number of decimals is known. What was not printed has no
//          fact: nothing is ever filled in.
// Ownership: plain values.

#ifndef KVSIM_ENGINES_STARTUP_LOG_H_
#define KVSIM_ENGINES_STARTUP_LOG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace kvsim {

struct LogFact {
  std::string name;
  std::string text;
  int64_t line = 0;  // counted from 1
};

// Half of the last printed digit: 0.005 for "55.15", 0 for "28234".
double HalfUnit(absl::string_view printed);

class StartupLog {
 public:
  // At most so many facts are kept: a log that starts engines over and over
  // does not fill the memory.
  static constexpr size_t kMostFacts = 20000;

  std::string engine;  // "vllm", "sglang", "llama.cpp", "tensorrt-llm"
  bool refused = false;

  // In order of first appearance; each name once.
  const std::vector<LogFact>& facts() const { return facts_; }

  // A later text takes the place of an earlier one.
  void Set(absl::string_view name, absl::string_view text, int64_t line);
  void SetOnce(absl::string_view name, absl::string_view text, int64_t line);

  const LogFact* Find(absl::string_view name) const;  // nullptr: not printed
  std::string Text(absl::string_view name) const;     // "": not printed
  std::optional<double> Number(absl::string_view name) const;
  std::optional<int64_t> Integer(absl::string_view name) const;

  // The numbers, tags and names between "ranks." and the next point, sorted by
  // length and then by letters: "0", "1", "10", "PP0_TP1".
  std::vector<std::string> Children(absl::string_view prefix) const;

 private:
  std::vector<LogFact> facts_;
  absl::flat_hash_map<std::string, size_t> index_;
};

}  // namespace kvsim

#endif  // KVSIM_ENGINES_STARTUP_LOG_H_
