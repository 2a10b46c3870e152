// Random programs for the engine model test.
//
// Model:      swarm testing: each seed first decides which features exist at all
//             in its run and how the rest is skewed, then drives a State with
//             random requests, steps and aborts, and drains it. Runs that lack a
//             feature reach states that runs with everything never see.
// Determinism: a seed is a program, on every machine.
#ifndef KVSIM_TESTS_SWARM_H_
#define KVSIM_TESTS_SWARM_H_

#include <cstdint>
#include <string>

#include "tests/engine_program.h"

namespace kvsim {

struct SwarmRun {
  Program program;
  std::string difference;  // empty: the engines agreed
};

SwarmRun RunSwarm(uint64_t seed, const SubjectFactory& make = MakeVllmEngine);

}  // namespace kvsim

#endif  // KVSIM_TESTS_SWARM_H_
