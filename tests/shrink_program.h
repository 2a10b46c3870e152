// Makes a failing program small.
//
// Model:      delta debugging: drops runs of operations, half of them at first and
//             then ever shorter ones, shortens prompts and outputs, drops or
//             simplifies cache groups, and returns settings to their
//             defaults, as long as the program still fails;
//             again and again until nothing more can go.
// Costs:      one run of the program for each attempt; O(operations · log) of
//             them a round.
#ifndef KVSIM_TESTS_SHRINK_PROGRAM_H_
#define KVSIM_TESTS_SHRINK_PROGRAM_H_

#include <functional>

#include "tests/engine_program.h"

namespace kvsim {

// A program that fails too, no longer than the given one.
// REQUIRES: fails(program).
Program Shrink(Program program,
               const std::function<bool(const Program&)>& fails);

}  // namespace kvsim

#endif  // KVSIM_TESTS_SHRINK_PROGRAM_H_
