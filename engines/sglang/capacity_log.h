// The lines with which SGLang tells its pools, as of mid 2026.
//
// "GB" is 2^30 bytes there. The state line ends in a blank, as the engine's
// does. Order: states, rows of windows, rows of full layers, drafts, totals.

#ifndef KVSIM_ENGINES_SGLANG_CAPACITY_LOG_H_
#define KVSIM_ENGINES_SGLANG_CAPACITY_LOG_H_

#include <string>
#include <vector>

#include "engines/sglang/plan.h"
#include "engines/sglang/settings.h"

namespace kvsim::sglang {

std::vector<std::string> CapacityLog(const SglangPlan& plan,
                                     const Settings& settings);

// What the engine says when no token fits, and when no request's states do.
std::string NotEnoughMemory(const Settings& settings);
std::string TooFewStates(const SglangPlan& plan);

}  // namespace kvsim::sglang

#endif  // KVSIM_ENGINES_SGLANG_CAPACITY_LOG_H_
