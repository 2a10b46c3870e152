// Drives a State as the simulator drives an engine, and writes down what it did.
//
// Model:      one step is Schedule, then Complete when the batch queue holds as
//             many as the engine's mode allows, when the batch came out empty or
//             when nothing is unfinished; a head that can never fit is aborted.
//             The operations performed so far are a Program.
#ifndef KVSIM_TESTS_PROGRAM_DRIVER_H_
#define KVSIM_TESTS_PROGRAM_DRIVER_H_

#include <cstdint>
#include <string>
#include <utility>

#include "tests/engine_program.h"

namespace kvsim {

class ProgramDriver {
 public:
  explicit ProgramDriver(const vllm::Settings& settings, size_t depth = 2,
                         const SubjectFactory& make = MakeVllmEngine)
      : program_{settings, depth, {}}, state_(program_, make) {}

  // Does nothing once the engines have differed.
  void Do(Operation operation) {
    if (!difference_.empty()) return;
    program_.operations.push_back(std::move(operation));
    difference_ = state_.Perform(program_.operations.back());
  }
  void Step(uint32_t dice) {
    const bool schedules = state_.HasUnfinished();
    if (schedules) Do(Schedule{});
    const bool empty = schedules && state_.last_plan().total_tokens == 0;
    if (schedules && !empty && state_.num_in_flight() < state_.depth()) return;
    const int64_t before = NumUnfinished();
    const bool processed_work = state_.OldestTokens() > 0;
    Do(Complete{dice});
    if (empty && !processed_work && state_.OldestTokens() == 0 &&
        NumUnfinished() == before && state_.last_plan().preempted.empty()) {
      Do(AbortHead{});
    }
  }
  // Steps until everything is served or dropped. False: still busy after `limit`
  // steps. A request that passes the gate but is longer than the pool (no
  // reserve, or lookahead slots, which the gate does not count) preempts itself
  // for ever; a real deployment excludes it.
  bool Drain(uint32_t dice, int64_t limit) {
    while (Busy() && difference_.empty()) {
      if (limit-- == 0) return false;
      Step(dice++);
    }
    return true;
  }

  bool Busy() const {
    return state_.HasUnfinished() || state_.num_in_flight() > 0;
  }
  const State& state() const { return state_; }
  const Program& program() const { return program_; }
  const std::string& difference() const { return difference_; }

 private:
  int64_t NumUnfinished() const {
    const EngineCounts counts = state_.Counts();
    return counts.running + counts.waiting;
  }

  Program program_;
  State state_;
  std::string difference_;
};

}  // namespace kvsim

#endif  // KVSIM_TESTS_PROGRAM_DRIVER_H_
