// The one rounding between model time in doubles and the clock's integers.
#ifndef KVSIM_SIM_ROUND_NS_H_
#define KVSIM_SIM_ROUND_NS_H_

#include <cstdint>

#include "base/check.h"

namespace kvsim {

// A step that takes longer than this (about 11 days) is a wrong coefficient.
inline constexpr double kMaxStepNs = 1e15;

// The nearest nanosecond, halves up; at least 1 so that time moves, at most
// kMaxStepNs. Exact: below 2^53 the sum and the truncation do not round.
// REQUIRES: ns is a number >= 0.
inline int64_t RoundNs(double ns) {
  KVSIM_CHECK(ns >= 0) << ns;
  if (ns < 1) return 1;
  if (ns > kMaxStepNs) return static_cast<int64_t>(kMaxStepNs);
  return static_cast<int64_t>(ns + 0.5);
}

}  // namespace kvsim

#endif  // KVSIM_SIM_ROUND_NS_H_
