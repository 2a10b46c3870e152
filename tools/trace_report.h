// What `kvsim trace info` prints, as text and as JSON.
//
// JSON, one object; names end in their unit:
//   trace, format, rows, first_arrival_ns, last_arrival_ns, distinct_arrivals
//   input_tokens, output_tokens: total, min, p50, p90, p99, max
//   rows_without_output, hash_blocks[] (tokens per id, every size that occurs)
//   block_references, distinct_blocks, hit_blocks, hit_full_block_tokens (both
//     by a cache without end), partial_tail_reuses, parent_conflicts, repeated_ids
//   sessions, longest_session_turns, scopes
#ifndef KVSIM_TOOLS_TRACE_REPORT_H_
#define KVSIM_TOOLS_TRACE_REPORT_H_

#include <iosfwd>
#include <string>

#include "traces/trace_options.h"
#include "traces/trace_stats.h"

namespace kvsim {

struct TraceReport {
  std::string trace;
  TraceFormat format = TraceFormat::kAuto;
  TraceSummary summary;
};

void PrintTraceText(const TraceReport& report, std::ostream& out);
void PrintTraceJson(const TraceReport& report, std::ostream& out);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_TRACE_REPORT_H_
