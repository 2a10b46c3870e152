// Replays a recorded scheduler run and says whether every step is equal.
//
//   engine_run_check --settings S.json --trace T.jsonl --run R.jsonl.zst
//       [--naive]
//
// Last line `equal STEPS steps` and exit 0; or the first difference and exit 1;
// exit 2 when a file cannot be used.

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "nlohmann/json.hpp"
#include "tests/engine_run.h"
#include "tests/naive_over_keys.h"

int main(int argc, char** argv) {
  CLI::App app("Compares a replay with a recorded run, step by step.");
  std::string settings_path, trace, run;
  std::optional<int64_t> limit;
  app.add_option("--settings", settings_path,
                 "JSON object of the settings that differ from the defaults")
      ->required();
  app.add_option("--trace", trace, "Mooncake JSONL")->required();
  app.add_option("--run", run, "the record, .jsonl or .jsonl.zst")->required();
  app.add_option("--limit", limit, "only the first rows of the trace");
  bool naive = false;
  app.add_flag("--naive", naive, "replay with the engine's naive twin");
  CLI11_PARSE(app, argc, argv);

  std::ifstream file(settings_path);
  std::stringstream text;
  text << file.rdbuf();
  const nlohmann::json settings =
      nlohmann::json::parse(text.str(), nullptr, false);
  if (!file || !settings.is_object()) {
    std::cerr << settings_path << ": not a readable JSON object\n";
    return 2;
  }
  kvsim::EngineMaker make;
  if (naive) {
    make = [](const kvsim::vllm::Settings& engine) {
      return std::make_unique<kvsim::NaiveOverKeys>(engine);
    };
  }
  const absl::StatusOr<kvsim::RunComparison> result =
      kvsim::CompareRun(settings, trace, run, limit, make);
  if (!result.ok()) {
    std::cerr << result.status().message() << "\n";
    return 2;
  }
  if (!result->equal) {
    std::cout << result->difference << "\n";
    return 1;
  }
  std::cout << "equal " << result->steps << " steps\n";
  return 0;
}
