// What a timeline says about one step, for whoever writes or keeps it.
//
// Columns:    counts of the step, then the reason that closed admission, then
//             where the pool's bytes were at its end, one column per account.
// Units:      nanoseconds of model time, tokens, requests, blocks, bytes.
// Costs:      reading the ledger.
#ifndef KVSIM_SIM_TIMELINE_ROW_H_
#define KVSIM_SIM_TIMELINE_ROW_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "allocator/ledger.h"
#include "engines/engine.h"
#include "sim/step_observer.h"

namespace kvsim {

// The counts in their order; running, waiting and free_blocks are those right
// after scheduling; the last three are the batch as a cost model sees it
// (batch_shape.h). A step that only drained outputs has 0 tokens.
inline constexpr const char* kTimelineCounts[] = {
    "step",           "start_ns",        "end_ns",        "tokens",
    "scheduled",      "running",         "waiting",       "free_blocks",
    "admitted",       "resumed",         "preempted",     "finished",
    "prefill_tokens", "decode_requests", "context_tokens"};
inline constexpr size_t kNumTimelineCounts = std::size(kTimelineCounts);

struct TimelineRow {
  std::array<int64_t, kNumTimelineCounts> counts{};
  AdmissionLimit limit = AdmissionLimit::kNoneWaiting;
  std::array<int64_t, kNumAccounts> bytes{};
};

TimelineRow TimelineRowOf(const StepRecord& record, const Engine& engine);

}  // namespace kvsim

#endif  // KVSIM_SIM_TIMELINE_ROW_H_
