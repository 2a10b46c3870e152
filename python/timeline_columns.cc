#include "python/timeline_columns.h"

namespace kvsim {

void TimelineColumns::OnStep(const StepRecord& record, const Engine& engine) {
  const TimelineRow row = TimelineRowOf(record, engine);
  for (size_t i = 0; i < counts.size(); ++i) {
    counts[i].push_back(row.counts[i]);
  }
  limits.push_back(static_cast<uint8_t>(row.limit));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i].push_back(row.bytes[i]);
}

}  // namespace kvsim
