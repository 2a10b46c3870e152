#include "traces/value_summary.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace kvsim {

ValueSummary Describe(std::vector<int64_t> values) {
  ValueSummary result;
  if (values.empty()) return result;
  std::sort(values.begin(), values.end());
  const auto percentile = [&values](size_t percent) {
    return values[(values.size() - 1) * percent / 100];
  };
  result.count = static_cast<int64_t>(values.size());
  for (const int64_t value : values) {
    if (__builtin_add_overflow(result.total, value, &result.total)) {
      result.total = std::numeric_limits<int64_t>::max();
    }
    const auto low =
        static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(value)));
    if (result.buckets.empty() || result.buckets.back().low != low) {
      result.buckets.push_back({low, 0});
    }
    ++result.buckets.back().count;
  }
  result.min = values.front();
  result.p50 = percentile(50);
  result.p90 = percentile(90);
  result.p99 = percentile(99);
  result.max = values.back();
  return result;
}

}  // namespace kvsim
