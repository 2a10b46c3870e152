// What a batch asks of the hardware, in five numbers.
//
// Model:      a scheduled request decodes when it samples and runs one token
//             beside its drafts; every other chunk is prefill, also the chunks
//             that recompute a preempted request.
// Units:      tokens.   Costs: one pass over the batch.
#ifndef KVSIM_SIM_BATCH_SHAPE_H_
#define KVSIM_SIM_BATCH_SHAPE_H_

#include <cstdint>

#include "engines/engine.h"

namespace kvsim {

struct BatchShape {
  int64_t decode_requests = 0;
  int64_t decode_tokens = 0;   // of those requests, drafts included
  int64_t decode_context = 0;  // tokens their attention reads
  int64_t prefill_tokens = 0;
  int64_t prefill_context = 0;  // tokens in the cache before those chunks

  int64_t ContextTokens() const { return decode_context + prefill_context; }

  static bool Decodes(const ScheduledRequest& work) {
    return work.samples && work.num_tokens - work.num_drafts == 1;
  }

  static BatchShape Of(const StepPlan& batch) {
    BatchShape shape;
    for (const ScheduledRequest& work : batch.scheduled) shape.Add(work);
    return shape;
  }

  friend bool operator==(const BatchShape&, const BatchShape&) = default;

 private:
  void Add(const ScheduledRequest& work) {
    if (Decodes(work)) {
      ++decode_requests;
      decode_tokens += work.num_tokens;
      decode_context += work.first_token + work.num_tokens;
    } else {
      prefill_tokens += work.num_tokens;
      prefill_context += work.first_token;
    }
  }
};

}  // namespace kvsim

#endif  // KVSIM_SIM_BATCH_SHAPE_H_
