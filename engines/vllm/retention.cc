#include "engines/vllm/retention.h"

#include <algorithm>

namespace kvsim::vllm {

// The first block from `index` on in the tail that ends at `boundary`.
int64_t Retention::NextInTail(int64_t index, int64_t boundary) const {
  const int64_t end = boundary / block + margin;
  if (boundary <= 0 || tail <= 0 || index >= end) return INT64_MAX;
  return std::max({int64_t{0}, index, end - tail});
}

int64_t Retention::NextKept(int64_t index, int64_t num_prompt,
                            int64_t junction) const {
  int64_t next = INT64_MAX;
  const int64_t step = interval.value_or(unit);
  if (step > 0) {
    // The first boundary whose tail ends behind this block.
    const int64_t least = std::max<int64_t>(1, (index + 1 - margin) * block);
    next = NextInTail(index, (least + step - 1) / step * step);
  }
  if (!interval.has_value()) return next;
  return std::min({next, NextInTail(index, (num_prompt - 1) / unit * unit),
                   NextInTail(index, junction / unit * unit)});
}

}  // namespace kvsim::vllm
