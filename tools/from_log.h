// `kvsim capacity --from-log FILE`: every figure of an engine's start-up log
// beside kvsim's own.
//
// Model:   settings and version come from the log, and what it does not say
//          from kvsim's flags and the command after `--`, which go first. The
//          printed memory goes through the same planner as a command would, and
//          the lines that the planner writes are read as the log was. A figure
//          agrees when it is the printed one, rounded as the engine rounds it.
//          Memory is printed rounded too: the pool is one that half a printed
//          unit of memory allows, the one that reproduces the most figures.
//          What differs is tried again with settings that the log does not
//          print; one that makes everything agree is named as the cause.
// Errors:  wrong usage for flags that contradict the log; the planner's.

#ifndef KVSIM_TOOLS_FROM_LOG_H_
#define KVSIM_TOOLS_FROM_LOG_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/units.h"
#include "engines/startup_log.h"
#include "tools/capacity_flags.h"
#include "tools/log_settings.h"

namespace kvsim {

enum class FigureVerdict {
  kAgrees,
  kDiffers,
  kInput,       // the plan starts from it
  kModelled,    // kvsim's own figure has an error band
  kNotChecked,  // kvsim has no such figure
};
absl::string_view VerdictName(FigureVerdict verdict);

struct LogFigure {
  std::string name;
  std::string printed;
  std::string predicted;  // "": none
  FigureVerdict verdict = FigureVerdict::kNotChecked;
  std::string cause;  // of everything that does not agree
  int64_t line = 0;
};

struct LogComparison {
  std::string file, engine, rules, model;
  bool refused = false;            // the engine refused to start
  bool predicted_refusal = false;  // and so does kvsim
  LogSettings settings;            // those that were used
  std::vector<LogFigure> figures;
  std::vector<std::string> notes;

  // Of one rank; nothing where memory does not decide the cache.
  std::optional<Bytes> kv_memory;
  std::string gpu;  // as --gpu names it; "": not given
  std::optional<double> gpu_total_gib;
  std::optional<double> utilization;
  int64_t tensor = 1, pipeline = 1;
  int64_t max_num_batched_tokens = 0, max_num_seqs = 0;

  int64_t Count(FigureVerdict verdict) const;
};

absl::StatusOr<LogComparison> CompareWithLog(
    const std::string& file, const CapacityFlags& flags,
    const std::vector<std::string>& serve_words);

void PrintComparison(const LogComparison& comparison, std::ostream& out);
nlohmann::ordered_json ComparisonJson(const LogComparison& comparison);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_FROM_LOG_H_
