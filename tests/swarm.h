// Random programs for the engine model test.
//
// Model:      swarm testing: each seed first decides which features exist at all
//             in its run and how the rest is skewed, then drives a State with
//             random requests, forks, steps, drops and aborts, and drains it. Runs that lack a
//             feature reach states that runs with everything never see.
// Determinism: a seed is a program, on every machine.
#ifndef KVSIM_TESTS_SWARM_H_
#define KVSIM_TESTS_SWARM_H_

#include <array>
#include <cstdint>
#include <string>

#include "tests/engine_program.h"

namespace kvsim {

// How often a run came by places worth visiting.
struct Visited {
  std::array<int64_t, kNumAdmissionLimits> limits{};  // steps, by limit
  int64_t preemptions = 0;
  int64_t resumed_with_hit = 0;
  int64_t admitted_with_hit = 0;
  int64_t drafts = 0;
  int64_t evictions = 0;
  int64_t copies = 0;
  int64_t swaps_out = 0;
  int64_t swaps_in = 0;
  int64_t host_full = 0;    // preempted by recompute beside swaps, all the run
  int64_t forks = 0;        // that ran at once
  int64_t fork_copies = 0;  // blocks
  int64_t forks_waited = 0;

  void Add(const StepPlan& plan);
};

struct SwarmRun {
  Program program;
  std::string difference;  // empty: the engines agreed
  Visited visited;
};

// One group of full attention.
SwarmRun RunSwarm(uint64_t seed, const SubjectFactory& make = MakeVllmEngine);

// One to four groups of any kinds: block sizes, windows, chunks, state modes,
// retention, match unit and the behaviours that versions differ in. Left out is
// what no engine starts with: drafts beside chunked attention, cross attention or
// states without checkpoints under prefix caching.
SwarmRun RunGroupSwarm(uint64_t seed,
                       const SubjectFactory& make = MakeVllmEngine);

}  // namespace kvsim

#endif  // KVSIM_TESTS_SWARM_H_
