// Batches written by hand, for tests of what looks at batches.
#ifndef KVSIM_SIM_FAKE_BATCHES_H_
#define KVSIM_SIM_FAKE_BATCHES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "engines/engine.h"

namespace kvsim {

// A decode of `id` at position `first_token` with `drafts` speculated tokens.
inline ScheduledRequest Decode(RequestId id, int64_t first_token,
                               int64_t num_outputs = 1, int32_t drafts = 0) {
  return {.id = id,
          .first_token = first_token,
          .num_tokens = 1 + drafts,
          .num_drafts = drafts,
          .num_outputs = num_outputs,
          .samples = true};
}

// A prefill chunk of `id`; `last` chunks sample.
inline ScheduledRequest Chunk(RequestId id, int64_t first_token,
                              int32_t num_tokens, bool last) {
  return {.id = id,
          .first_token = first_token,
          .num_tokens = num_tokens,
          .samples = last};
}

inline StepPlan Batch(std::vector<ScheduledRequest> scheduled) {
  StepPlan plan;
  plan.scheduled = std::move(scheduled);
  for (const ScheduledRequest& work : plan.scheduled) {
    plan.total_tokens += work.num_tokens;
  }
  return plan;
}

}  // namespace kvsim

#endif  // KVSIM_SIM_FAKE_BATCHES_H_
