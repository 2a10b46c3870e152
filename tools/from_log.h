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

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/capacity_flags.h"
#include "tools/log_comparison.h"

namespace kvsim {

absl::StatusOr<LogComparison> CompareWithLog(
    const std::string& file, const CapacityFlags& flags,
    const std::vector<std::string>& serve_words);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_FROM_LOG_H_
