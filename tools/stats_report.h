// What `kvsim trace stats` prints: text, JSON, CSV.
//
// JSON, one object; names end in their unit:
//   trace, format, rows
//   input_tokens, output_tokens: distributions
//   arrivals: first_ns, last_ns, distinct, most_at_once, busiest_minute,
//     gap_variation, gaps_ns (a distribution)
//   reuse: distance_blocks, time_ns (distributions of blocks used again)
//   prefix_tree: nodes, roots, shared_nodes, branching_nodes, max_children,
//     max_depth_blocks, hit_blocks, hit_tokens, ceiling (hit_tokens over all
//     input tokens), children (a distribution), hot[]: rows, tokens,
//     shared_tokens, saved_tokens, scope, last_id
//   sessions: sessions, rows, turns, think_ns (distributions)
//   block_sizes[]: block_tokens, hit_tokens, tail_tokens, ceiling
// A distribution: count, total, mean, min, p50, p90, p99, max, buckets[] of
// low, count: values in [low, 2 low).
//
// CSV: `name,value` and a line per number of the JSON, its path as the name:
// `prefix_tree.hot[0].rows,88`.
#ifndef KVSIM_TOOLS_STATS_REPORT_H_
#define KVSIM_TOOLS_STATS_REPORT_H_

#include <iosfwd>
#include <string>

#include "traces/trace_options.h"
#include "traces/trace_profile.h"

namespace kvsim {

struct StatsReport {
  std::string trace;
  TraceFormat format = TraceFormat::kAuto;
  TraceProfile profile;
};

void PrintStatsText(const StatsReport& report, std::ostream& out);
void PrintStatsJson(const StatsReport& report, std::ostream& out);
void PrintStatsCsv(const StatsReport& report, std::ostream& out);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_STATS_REPORT_H_
