// One recorded start of an engine: what it was given, and what it printed.
//
// Model:   a JSON object. To predict, only `config`, `draft_config`, `args`,
//          the memory, `given`, `platform` and the version fields may be used;
//          `expect` and `outcome` are for the comparison, `id` and `kind` for
//          reports.
// Ownership: plain values.

#ifndef KVSIM_TESTS_STARTUP_CASE_H_
#define KVSIM_TESTS_STARTUP_CASE_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/units.h"

namespace kvsim {

struct StartupCase {
  std::string id, kind;  // reports only

  std::string engine;          // vllm, sglang, llama.cpp, tensorrt-llm
  std::string engine_version;  // "": not printed
  // Version facts where the version is unknown; "" or 0 where they do not
  // matter.
  std::string token_line, v4_layout;
  int64_t in_flight_batches = 0;
  bool vllm_v0 = false;

  std::string platform;      // "cuda", "rocm", "xpu", "ascend", "tpu"
  std::string config;        // JSON text of the model
  std::string draft_config;  // of a drafter; "": none
  std::vector<std::string> args;

  // What was left for the cache, as printed: within half a unit of the last
  // decimal. No band: exact. No value: not printed.
  std::optional<Bytes> memory;
  Bytes memory_band;
  nlohmann::json given;  // figures a predictor takes as input; an object

  nlohmann::json expect;  // printed figures
  bool refused = false;
};

// An integer that the record gives as input; none: it does not.
std::optional<int64_t> GivenFigure(const StartupCase& startup,
                                   const char* name);

// Errors: InvalidArgument naming the field.
absl::StatusOr<StartupCase> ParseStartupCase(const std::string& text);

// Every *.json file of a folder, by name.
// Errors: NotFound for a folder that cannot be read; a file's own errors.
absl::StatusOr<std::vector<StartupCase>> ReadStartupCases(
    const std::string& folder);

}  // namespace kvsim

#endif  // KVSIM_TESTS_STARTUP_CASE_H_
