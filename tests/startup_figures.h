// What a predictor says of a recorded start: the figures the engine would print.
//
// Figures are named as the records name them (num_gpu_blocks, kv_cache_tokens,
// max_concurrency, ...); a predictor may give more than a record printed.

#ifndef KVSIM_TESTS_STARTUP_FIGURES_H_
#define KVSIM_TESTS_STARTUP_FIGURES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/units.h"
#include "tests/startup_case.h"

namespace kvsim {

struct StartupFigures {
  bool refused = false;
  // What the pool is counted in: blocks, or tokens, or cells. The comparison
  // asks for every size that the printed memory allows.
  int64_t units = 0;
  std::map<std::string, double> values;
};

// The size of the pool, instead of the record's own.
struct StartupPool {
  std::optional<Bytes> memory;   // none: the record gave no memory
  std::optional<int64_t> units;  // goes before memory
};

// Reads nothing of the record but what startup_case.h allows.
// Errors: Unimplemented for what the engine's model lacks.
using StartupPredict = absl::StatusOr<StartupFigures> (*)(
    const StartupCase& startup, const StartupPool& pool);

}  // namespace kvsim

#endif  // KVSIM_TESTS_STARTUP_FIGURES_H_
