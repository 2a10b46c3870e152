#include "engines/vllm/retention.h"

#include <algorithm>

namespace kvsim::vllm {

CheckpointPolicy PolicyOfInterval(std::optional<int64_t> interval) {
  CheckpointPolicy policy;
  policy.dense = !interval.has_value();
  policy.every = interval.value_or(0);
  policy.prompt_end = policy.branch_points = interval.has_value();
  return policy;
}

Boundaries Boundaries::Of(const CheckpointPolicy& policy, int64_t unit) {
  return {.spacing = policy.Spacing(unit),
          .prompt_end = policy.prompt_end,
          .branch_points = policy.branch_points};
}

int64_t Boundaries::Next(int64_t least, int64_t num_prompt,
                         int64_t junction) const {
  least = std::max<int64_t>(least, 1);
  int64_t next = spacing.Next(least);
  const auto add = [&](int64_t tokens) {
    const int64_t boundary = tokens / spacing.unit * spacing.unit;
    if (boundary >= least) next = std::min(next, boundary);
  };
  if (prompt_end) add(num_prompt - 1);
  if (branch_points) add(junction);
  return next;
}

int64_t Boundaries::Previous(int64_t boundary, int64_t num_prompt,
                             int64_t junction) const {
  int64_t previous = spacing.Previous(boundary);
  const auto add = [&](int64_t tokens) {
    const int64_t other = tokens / spacing.unit * spacing.unit;
    if (other < boundary) previous = std::max(previous, other);
  };
  if (prompt_end) add(num_prompt - 1);
  if (branch_points) add(junction);
  return previous;
}

int64_t Retention::NextKept(int64_t index, int64_t num_prompt,
                            int64_t junction) const {
  if (tail <= 0) return INT64_MAX;
  // The first boundary whose tail ends behind this block.
  const int64_t boundary =
      boundaries.Next((index + 1 - margin) * block, num_prompt, junction);
  if (boundary == INT64_MAX) return INT64_MAX;
  return std::max(index, boundary / block + margin - tail);
}

}  // namespace kvsim::vllm
