// Runs benchmark programs one after another and prints one table.
//
// Usage: benchmarks PROGRAM… [--benchmark_…]
// Flags that start with --benchmark_ go to every program.

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace {

using Json = nlohmann::json;

struct PipeCloser {
  void operator()(FILE* pipe) const { pclose(pipe); }
};

// `text` as one word of a shell command.
std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

// What a program prints on stdout; nullopt when it cannot run or fails.
std::optional<std::string> OutputOf(const std::string& command) {
  std::unique_ptr<FILE, PipeCloser> pipe(popen(command.c_str(), "r"));
  if (pipe == nullptr) return std::nullopt;
  std::string output;
  char buffer[4096];
  while (size_t size = fread(buffer, 1, sizeof(buffer), pipe.get())) {
    output.append(buffer, size);
  }
  if (pclose(pipe.release()) != 0) return std::nullopt;
  return output;
}

// "12.3 M", three significant digits, powers of 1000.
std::string Rate(double per_second) {
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T"};
  size_t prefix = 0;
  while (per_second >= 999.5 && prefix + 1 < std::size(kPrefixes)) {
    per_second /= 1000;
    ++prefix;
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g %s", per_second, kPrefixes[prefix]);
  return text;
}

// Counters are the members Google Benchmark adds beyond its own.
std::string Counters(const Json& run) {
  std::string text;
  for (const auto& [key, value] : run.items()) {
    const bool known =
        key == "real_time" || key == "cpu_time" || key == "iterations" ||
        key == "repetitions" || key == "repetition_index" || key == "threads" ||
        key == "items_per_second" || key == "bytes_per_second" ||
        key == "family_index" || key == "per_family_instance_index";
    if (known || !value.is_number()) continue;
    char number[48];
    std::snprintf(number, sizeof(number), " %s=%.10g", key.c_str(),
                  value.get<double>());
    text += number;
  }
  return text;
}

void PrintHeader() {
  std::printf("%-48s %14s %12s %12s  %s\n", "benchmark", "time", "items/s",
              "bytes/s", "counters");
}

void PrintRun(const Json& run) {
  const std::string time_unit = run.value("time_unit", "ns");
  char time[48];
  std::snprintf(time, sizeof(time), "%.4g %s", run.value("cpu_time", 0.0),
                time_unit.c_str());
  const auto rate = [&run](const char* key) {
    return run.contains(key) ? Rate(run[key].get<double>()) : std::string("-");
  };
  std::printf("%-48s %14s %12s %12s %s\n", run.value("name", "?").c_str(), time,
              rate("items_per_second").c_str(),
              rate("bytes_per_second").c_str(), Counters(run).c_str());
}

// False when the program failed or one of its benchmarks reported an error.
bool RunProgram(const std::string& program, const std::string& flags) {
  const std::optional<std::string> output =
      OutputOf(Quoted(program) + " --benchmark_format=json" + flags);
  const Json document =
      Json::parse(output.value_or(""), nullptr, /*allow_exceptions=*/false);
  if (!document.contains("benchmarks")) {
    std::cerr << "benchmarks: " << program << " failed\n";
    return false;
  }
  bool ok = true;
  for (const Json& run : document["benchmarks"]) {
    if (run.value("error_occurred", false)) {
      std::cerr << "benchmarks: " << run.value("name", "?") << ": "
                << run.value("error_message", "") << "\n";
      ok = false;
      continue;
    }
    PrintRun(run);
  }
  std::fflush(stdout);
  return ok;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> programs;
  std::string flags;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.rfind("--benchmark_", 0) == 0) {
      flags += " " + Quoted(argument);
    } else {
      programs.push_back(argument);
    }
  }
  if (programs.empty()) {
    std::cerr << "usage: benchmarks PROGRAM... [--benchmark_...]\n";
    return 2;
  }
  PrintHeader();
  bool ok = true;
  for (const std::string& program : programs) {
    ok &= RunProgram(program, flags);
  }
  return ok ? 0 : 1;
}
