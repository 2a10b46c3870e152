// The figures of a set of measured times, all exact.
//
// Model:      percentile p is the smallest value with at least p % of the
//             values at or below it (nearest rank): always a value that was
//             measured. The mean rounds down to a nanosecond.
// Units:      nanoseconds.
#ifndef KVSIM_SIM_DISTRIBUTION_H_
#define KVSIM_SIM_DISTRIBUTION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kvsim {

struct Distribution {
  int64_t count = 0;
  int64_t mean_ns = 0;
  int64_t p50_ns = 0;
  int64_t p90_ns = 0;
  int64_t p99_ns = 0;
  int64_t max_ns = 0;

  // All zero for no values. O(n log n).
  static Distribution Of(std::span<const int64_t> values_ns);

  friend bool operator==(const Distribution&, const Distribution&) = default;
};

inline Distribution Distribution::Of(std::span<const int64_t> values_ns) {
  Distribution result;
  if (values_ns.empty()) return result;
  std::vector<int64_t> sorted(values_ns.begin(), values_ns.end());
  std::sort(sorted.begin(), sorted.end());
  const auto rank = [&](size_t percent) {
    return sorted[(sorted.size() * percent + 99) / 100 - 1];
  };
  __int128 sum = 0;
  for (const int64_t value : sorted) sum += value;
  result.count = static_cast<int64_t>(sorted.size());
  result.mean_ns = static_cast<int64_t>(sum / result.count);
  result.p50_ns = rank(50);
  result.p90_ns = rank(90);
  result.p99_ns = rank(99);
  result.max_ns = sorted.back();
  return result;
}

}  // namespace kvsim

#endif  // KVSIM_SIM_DISTRIBUTION_H_
