// The pool behind a start-up log: which one, of those that its printed memory
// allows, prints what the log prints.
//
// Model:   memory is printed rounded, so half a printed unit on either side is
//          tried; the pool that reproduces the most figures is the one. Where no
//          memory is printed, the figure that sizes the pool takes its place.
// Costs:   about 40 plans.

#ifndef KVSIM_TOOLS_LOG_POOL_H_
#define KVSIM_TOOLS_LOG_POOL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/units.h"
#include "engines/capacity.h"
#include "engines/startup_log.h"
#include "tools/capacity_flags.h"
#include "tools/capacity_serve.h"

namespace kvsim {

// What the planner is given of the memory; empty: what the flags say.
struct PoolGiven {
  std::optional<Bytes> memory;
  std::vector<Bytes> ranks;
  std::optional<int64_t> units;  // blocks
};

struct LogPrediction {
  StartupLog lines;  // the planner's lines, read as the log was
  CapacityAnswer answer;
};

// One set of settings, planned with any memory.
class LogPlanner {
 public:
  absl::Status Load(const CapacityFlags& flags,
                    const std::vector<std::string>& words) {
    loaded_ = std::make_unique<LoadedQuestion>();
    return LoadQuestion(flags, words, loaded_.get());
  }

  const CapacityQuestion& question() const { return loaded_->question; }
  const std::string& model() const { return loaded_->model.name; }

  // Errors: the planner's. A refused start is a prediction.
  absl::StatusOr<LogPrediction> Plan(const PoolGiven& given) const;

 private:
  std::unique_ptr<LoadedQuestion> loaded_;
};

// What is printed of a cache's memory, and how exactly.
struct PrintedMemory {
  PoolGiven least, most, middle;
  std::string text;  // "55.15 GiB"; "": none was printed
};

Bytes FromGib(double gib);

// `gpus`: ranks of the engine. The smallest rank rules, stages are kept apart.
PrintedMemory PrintedMemoryOf(const StartupLog& log, int64_t gpus);

// Facts whose printed value says nothing of memory, or stands in the settings.
bool IsPassedOver(absl::string_view name);
// A figure's name among the planner's lines, which are those of one rank.
std::string PredictedName(absl::string_view name);
bool SameNumber(double a, double b);

// The pool among those that memory allows that reproduces the most.
struct FoundPool {
  LogPrediction prediction;
  std::vector<std::string> differing;
  int64_t least = 0, most = 0;  // blocks that memory allows
  std::string input;            // figure that took the memory's place
};

// The figure that sizes the pool: the first of blocks, tokens, concurrency that
// the log prints; "": none.
std::string PoolFigureOf(const StartupLog& log);

absl::StatusOr<FoundPool> PoolBehindLog(const LogPlanner& planner,
                                        const StartupLog& log,
                                        const PrintedMemory& memory);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_LOG_POOL_H_
