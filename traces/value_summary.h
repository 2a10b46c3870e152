// What a list of integers looks like: mean, quantiles, and powers of two.
#ifndef KVSIM_TRACES_VALUE_SUMMARY_H_
#define KVSIM_TRACES_VALUE_SUMMARY_H_

#include <cstdint>
#include <vector>

namespace kvsim {

// How many values lie in [low, 2 low); low is a power of two, or 0 for the
// values that are 0.
struct Bucket {
  int64_t low = 0;
  int64_t count = 0;
};

// Percentile q is the element at floor(q (n - 1)) of the sorted values. The
// total stays at the int64 maximum instead of overflowing.
struct ValueSummary {
  int64_t count = 0;
  int64_t total = 0;
  int64_t min = 0;
  int64_t p50 = 0;
  int64_t p90 = 0;
  int64_t p99 = 0;
  int64_t max = 0;
  std::vector<Bucket> buckets;  // ascending, empty ones left out

  double mean() const {
    return count == 0 ? 0 : static_cast<double>(total) / count;
  }
};

// REQUIRES: no value is negative. O(n log n).
ValueSummary Describe(std::vector<int64_t> values);

}  // namespace kvsim

#endif  // KVSIM_TRACES_VALUE_SUMMARY_H_
