// A start-up log beside kvsim's own figures, as a value and as people and
// programs read it.

#ifndef KVSIM_TOOLS_LOG_COMPARISON_H_
#define KVSIM_TOOLS_LOG_COMPARISON_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/units.h"
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

void PrintComparison(const LogComparison& comparison, std::ostream& out);
nlohmann::ordered_json ComparisonJson(const LogComparison& comparison);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_LOG_COMPARISON_H_
