// Random numbers that are the same on every machine, today and later.
//
// Model:    a RandomStream is named. (seed, name) decides its whole sequence,
// so
//           each subsystem draws from its own stream ("arrivals",
//           "output_lengths") and one that draws more often does not disturb
//           the others.
// Method:   xoshiro256** (Blackman and Vigna, 2018), its state filled by
//           splitmix64 from the seed and an FNV-1a hash of the name.
//           Distributions use integers, base/fixed_log.h, and of floating point
//           only + - * / and sqrt, which IEEE 754 rounds alike everywhere
//           (fused operations are off in this build). <random> and
//           absl::BitGen promise no such thing.
// Costs:    Next() a nanosecond or two; Exponential() and LogNormal() one to three
//           hundred, in logarithms.
// Threads:  one per stream.

#ifndef KVSIM_BASE_RANDOM_H_
#define KVSIM_BASE_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/strings/string_view.h"
#include "base/units.h"

namespace kvsim {

class RandomStream {
 public:
  RandomStream(uint64_t seed, absl::string_view name);

  // 64 random bits.
  uint64_t Next();

  // Uniform in [0, bound), without bias. REQUIRES: bound > 0.
  uint64_t Below(uint64_t bound);

  // Uniform in [low, high], both included. REQUIRES: low <= high.
  int64_t Between(int64_t low, int64_t high);

  // Uniform in [0, 1): a multiple of 2^-53.
  double Uniform();

  // True with the given probability. REQUIRES: 0 <= probability <= 1.
  bool Chance(double probability);

  // -ln(U): mean 1. The largest possible value is 44.4 (64 ln 2).
  double Exponential();

  // The gap to the next arrival of a Poisson process, at least 0.
  // REQUIRES: mean >= 0.
  SimTime ExponentialTime(SimTime mean);

  // Mean 0, standard deviation 1 (Marsaglia's polar method).
  double Normal();

  // median * exp(sigma * N), rounded to the nearest integer; at most
  // median * 2^31. REQUIRES: 0 <= median <= 2^30, sigma >= 0.
  int64_t LogNormal(int64_t median, double sigma);

  // The number of failures before the first success: 0, 1, 2 … with mean
  // (1 - p) / p, to 0.03 % at the smallest probability.
  // REQUIRES: 2^-20 <= probability <= 1.
  int64_t Geometric(double probability);

  // An index with probability weights[i] / sum. O(weights).
  // REQUIRES: weights >= 0 with a positive sum that fits int64.
  size_t Weighted(std::span<const int64_t> weights);

  // Every order equally likely.
  template <typename T>
  void Shuffle(std::span<T> items) {
    for (size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[Below(i)]);
    }
  }

 private:
  uint64_t state_[4];
};

}  // namespace kvsim

#endif  // KVSIM_BASE_RANDOM_H_
