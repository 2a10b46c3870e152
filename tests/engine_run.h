// A recorded run of vLLM's scheduler, replayed and compared step by step.
//
// Model:      from the settings and the trace alone the replay makes its own lines
//             (sim/step_log.h), which must equal the record's in every field of
//             every step, request and summary line that the record has. The
//             replay never reads recorded steps. The record's first line repeats
//             its settings and is passed over.
// Errors:     Status for files that cannot be read and settings that are not
//             supported, naming them; a difference is a result, not an error.
#ifndef KVSIM_TESTS_ENGINE_RUN_H_
#define KVSIM_TESTS_ENGINE_RUN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "engines/engine.h"
#include "engines/vllm/settings.h"
#include "nlohmann/json.hpp"

namespace kvsim {

// What a settings object asks for; absent fields keep the recorder's defaults.
struct RunSettings {
  vllm::Settings engine;
  int64_t step_us = 20000;
  bool all_at_once = false;        // "arrival": "all": every row arrives at 0
  bool partial_tail_hash = false;  // "partial_tail": "hash"
};

// InvalidArgument names the field, its value and what is accepted.
absl::StatusOr<RunSettings> ParseRunSettings(const nlohmann::json& settings);

using EngineMaker =
    std::function<std::unique_ptr<Engine>(const vllm::Settings&)>;

struct RunComparison {
  bool equal = false;
  int64_t steps = 0;       // compared
  std::string difference;  // step, field, both values, both states
};

// Replays `trace` (Mooncake JSONL; its first `limit` rows when given) under
// `settings` and compares with the record `run` (.jsonl or .jsonl.zst). `make`
// makes the engine; by default a VllmEngine.
absl::StatusOr<RunComparison> CompareRun(const nlohmann::json& settings,
                                         const std::string& trace,
                                         const std::string& run,
                                         std::optional<int64_t> limit = {},
                                         const EngineMaker& make = {});

}  // namespace kvsim

#endif  // KVSIM_TESTS_ENGINE_RUN_H_
