#include "sim/timeline_row.h"

#include "sim/batch_shape.h"

namespace kvsim {
namespace {

int64_t Size(const auto& list) { return static_cast<int64_t>(list.size()); }

}  // namespace

TimelineRow TimelineRowOf(const StepRecord& record, const Engine& engine) {
  static const StepPlan kNoPlan;
  const StepPlan& plan = record.plan == nullptr ? kNoPlan : *record.plan;
  const EngineCounts& counts =
      record.scheduled ? record.after_schedule : record.at_end;
  const BatchShape shape = BatchShape::Of(plan);
  return {.counts = {record.step, record.start_ns, record.end_ns,
                     plan.total_tokens, Size(plan.scheduled), counts.running,
                     counts.waiting, counts.free_blocks, Size(plan.admitted),
                     Size(plan.resumed) + Size(plan.swapped_in),
                     Size(plan.preempted), Size(record.finished),
                     shape.prefill_tokens, shape.decode_requests,
                     shape.ContextTokens()},
          .limit = plan.limit,
          .bytes = engine.Ledger().bytes};
}

}  // namespace kvsim
