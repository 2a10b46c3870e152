// `kvsim capacity` answers while a person waits: a process of its own, started
// anew, answers within 20 ms.
//
// The median of 20 runs counts. The limit is on the time the process computes,
// not on the clock: on a shared machine the clock also measures the neighbours.
// Where neighbours slow even `kvsim --version`, run in turn with the questions,
// an answer may take twice that instead. All of it is printed. Unoptimised
// builds assert nothing, sanitized ones do not run it.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

extern char** environ;

namespace kvsim {
namespace {

// Times of a debug build say nothing.
#ifdef __OPTIMIZE__
constexpr bool kOptimized = true;
#else
constexpr bool kOptimized = false;
#endif
constexpr int kRuns = 20;
constexpr double kMostMs = 20;
constexpr double kMostOverBare = 2;
constexpr char kProgram[] = "tools/kvsim";

struct Elapsed {
  int status = -1;
  double clock_ms = 0;
  double cpu_ms = 0;
};

double Ms(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e3 +
         static_cast<double>(time.tv_usec) / 1e3;
}

// Runs the program to its end with its output thrown away.
Elapsed RunProgram(const std::vector<std::string>& arguments) {
  std::vector<char*> argv = {const_cast<char*>(kProgram)};
  for (const std::string& word : arguments) {
    argv.push_back(const_cast<char*>(word.c_str()));
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  const auto begin = std::chrono::steady_clock::now();
  pid_t child = 0;
  Elapsed elapsed;
  rusage usage = {};
  const int error =
      posix_spawn(&child, kProgram, &actions, nullptr, argv.data(), environ);
  if (error == 0) wait4(child, &elapsed.status, 0, &usage);
  const std::chrono::duration<double, std::milli> clock =
      std::chrono::steady_clock::now() - begin;
  posix_spawn_file_actions_destroy(&actions);
  elapsed.clock_ms = clock.count();
  elapsed.cpu_ms = Ms(usage.ru_utime) + Ms(usage.ru_stime);
  return elapsed;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Question {
  const char* what;
  const char* words;
};

constexpr Question kQuestions[] = {
    {"vLLM, dense", "--model llama-3.1-8b --gpu H100 --max-model-len 131072"},
    {"vLLM, hybrid",
     "--model kimi-k3 --gpu B300 --tp 16 --max-model-len 1048576"},
    {"vLLM, DeepSeek V4",
     "--model deepseek-v4-pro --gpu H200 --tp 8 --max-model-len 1048576"},
    {"SGLang", "--engine sglang --model gpt-oss-120b --kv-memory 40GiB"},
    {"TensorRT-LLM",
     "--engine tensorrt-llm --model llama-3.1-8b --kv-memory 40GiB"},
    {"llama.cpp",
     "--engine llama.cpp --model gpt-oss-20b --kv-memory 8GiB -- llama-server "
     "-c 8192"},
    {"a pasted command",
     "--kv-memory 33.35GiB -- vllm serve Qwen/Qwen3.5-27B "
     "--tensor-parallel-size 2 --max-model-len 256K --kv-cache-dtype fp8"},
};

TEST(CapacitySpeed, AProcessAnswersWithinTwentyMilliseconds) {
  std::cout << absl::StrFormat("%-20s %12s %12s %12s %12s\n",
                               "median of 20, ms", "computing", "--version",
                               "by the clock", "fastest");
  for (const Question& question : kQuestions) {
    std::vector<std::string> arguments =
        absl::StrSplit(question.words, ' ', absl::SkipEmpty());
    arguments.insert(arguments.begin(), "capacity");
    std::vector<double> cpu, clock, bare;
    for (int i = 0; i < kRuns; ++i) {
      bare.push_back(RunProgram({"--version"}).cpu_ms);
      const Elapsed elapsed = RunProgram(arguments);
      ASSERT_TRUE(WIFEXITED(elapsed.status)) << question.what;
      ASSERT_EQ(WEXITSTATUS(elapsed.status), 0) << question.what;
      cpu.push_back(elapsed.cpu_ms);
      clock.push_back(elapsed.clock_ms);
    }
    std::cout << absl::StrFormat("%-20s %12.1f %12.1f %12.1f %12.1f\n",
                                 question.what, Median(cpu), Median(bare),
                                 Median(clock),
                                 *std::min_element(clock.begin(), clock.end()));
    if (!kOptimized) continue;
    EXPECT_LE(Median(cpu), std::max(kMostMs, kMostOverBare * Median(bare)))
        << question.what;
  }
}

}  // namespace
}  // namespace kvsim
