// Many seeds of a swarm, the first disagreement shrunk.
//
// KVSIM_SWARM_SEED and KVSIM_SWARM_RUNS in the environment (bazel test
// --test_env=...) run others, or more. A failed check inside an engine aborts; the
// seed is printed even then.
#ifndef KVSIM_TESTS_SWARM_SEEDS_H_
#define KVSIM_TESTS_SWARM_SEEDS_H_

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/engine_program.h"
#include "tests/shrink_program.h"
#include "tests/swarm.h"

namespace kvsim {

inline volatile std::sig_atomic_t current_swarm_seed = 0;

inline uint64_t FromEnvironment(const char* name, uint64_t standard) {
  const char* text = std::getenv(name);
  return text == nullptr ? standard : std::strtoull(text, nullptr, 10);
}

// Empty when the engines agree in `runs` seeds from 1 on, else the seed, what
// differs and the shrunk program as C++.
inline std::string DifferenceOfSeeds(
    uint64_t runs, const std::function<SwarmRun(uint64_t)>& swarm) {
  std::signal(SIGABRT, [](int) {
    std::fprintf(stderr, "aborted in swarm seed %ld\n",
                 static_cast<long>(current_swarm_seed));
  });
  const uint64_t first = FromEnvironment("KVSIM_SWARM_SEED", 1);
  runs = FromEnvironment("KVSIM_SWARM_RUNS", runs);
  uint64_t operations = 0;
  for (uint64_t seed = first; seed < first + runs; ++seed) {
    current_swarm_seed = static_cast<std::sig_atomic_t>(seed);
    const SwarmRun run = swarm(seed);
    operations += run.program.operations.size();
    if (run.difference.empty()) continue;
    const Program small = Shrink(
        run.program, [](const Program& p) { return !RunProgram(p).empty(); });
    return absl::StrCat("seed ", seed, ": ", run.difference,
                        "\nshrunk: ", RunProgram(small), "\n", small.Code());
  }
  std::signal(SIGABRT, SIG_DFL);
  std::cout << "seeds " << first << " to " << first + runs - 1 << ": "
            << operations << " operations\n";
  return "";
}

}  // namespace kvsim

#endif  // KVSIM_TESTS_SWARM_SEEDS_H_
