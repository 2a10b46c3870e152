#include "engines/vllm/retention.h"

namespace kvsim::vllm {

bool Retention::InTail(int64_t index, int64_t boundary) const {
  const int64_t end = boundary / block + margin;
  return boundary > 0 && index < end && index >= end - tail;
}

bool Retention::Keeps(int64_t index, int64_t num_prompt,
                      int64_t junction) const {
  const int64_t step = interval.value_or(unit);
  if (step > 0) {
    // The first boundary whose tail may reach back to this block, and behind it.
    int64_t boundary = (index + 1 - margin) * block;
    if (boundary < 1) boundary = 1;
    boundary = (boundary + step - 1) / step * step;
    if (InTail(index, boundary)) return true;
  }
  if (!interval.has_value()) return false;
  return InTail(index, (num_prompt - 1) / unit * unit) ||
         InTail(index, junction / unit * unit);
}

}  // namespace kvsim::vllm
