#include "tools/trace_report.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/text.h"

namespace kvsim {
namespace {

void Line(std::ostream& out, absl::string_view name, absl::string_view text) {
  out << absl::StrFormat("%-22s %s\n", name, text);
}

void TokenLine(std::ostream& out, absl::string_view name,
               const ValueSummary& tokens, int64_t rows) {
  out << absl::StrFormat("%-22s %16s %12s %10s %10s %10s %10s %12s\n", name,
                         FormatCount(tokens.total),
                         rows == 0 ? "n/a" : FormatRatio(tokens.total, rows, 1),
                         FormatCount(tokens.min), FormatCount(tokens.p50),
                         FormatCount(tokens.p90), FormatCount(tokens.p99),
                         FormatCount(tokens.max));
}

void PrintBlocks(const TraceSummary& summary, std::ostream& out) {
  if (summary.block_references == 0) {
    Line(out, "Prefix ids", "none: nothing can be shared");
    return;
  }
  Line(out, "Tokens per id", absl::StrJoin(summary.hash_blocks, ", "));
  Line(out, "Block references",
       absl::StrCat(FormatCount(summary.block_references), ", of which ",
                    FormatCount(summary.distinct_blocks), " distinct"));
  Line(out, "Endless cache hits",
       absl::StrCat(
           FormatPercent(summary.hit_blocks, summary.block_references, 2),
           " of the references; whole blocks: ",
           FormatPercent(summary.hit_full_block_tokens, summary.input.total, 2),
           " of the input tokens"));
  Line(out, "Reused partial tails",
       absl::StrCat(FormatCount(summary.partial_tail_reuses),
                    " rows (--partial-tail shared lets them hit)"));
  Line(
      out, "Not prefix-chained",
      absl::StrCat(FormatCount(summary.parent_conflicts),
                   " references under another id than before; ",
                   FormatCount(summary.repeated_ids), " ids twice in one row"));
}

nlohmann::ordered_json TokensJson(const ValueSummary& tokens) {
  return {{"total", tokens.total}, {"min", tokens.min}, {"p50", tokens.p50},
          {"p90", tokens.p90},     {"p99", tokens.p99}, {"max", tokens.max}};
}

}  // namespace

void PrintTraceText(const TraceReport& report, std::ostream& out) {
  const TraceSummary& summary = report.summary;
  Line(out, "Trace",
       absl::StrCat(report.trace, " (", TraceFormatName(report.format), ")"));
  Line(out, "Requests", FormatCount(summary.rows));
  if (summary.rows == 0) return;
  Line(out, "Arrivals",
       absl::StrCat(FormatDuration(SimTime(summary.first_arrival_ns)), " to ",
                    FormatDuration(SimTime(summary.last_arrival_ns)), ", ",
                    FormatCount(summary.distinct_arrivals), " distinct times"));
  out << absl::StrFormat("%-22s %16s %12s %10s %10s %10s %10s %12s\n", "Tokens",
                         "total", "mean", "min", "p50", "p90", "p99", "max");
  TokenLine(out, "  input", summary.input, summary.rows);
  TokenLine(out, "  output", summary.output, summary.rows);
  if (summary.rows_without_output > 0) {
    Line(out, "Without output",
         absl::StrCat(FormatCount(summary.rows_without_output), " rows"));
  }
  PrintBlocks(summary, out);
  Line(out, "Sessions",
       summary.sessions == 0
           ? "none"
           : absl::StrCat(FormatCount(summary.sessions), ", the longest of ",
                          FormatCount(summary.longest_session_turns),
                          " turns; ids comparable inside ",
                          FormatCount(summary.scopes),
                          summary.scopes == 1 ? " scope" : " scopes"));
}

void PrintTraceJson(const TraceReport& report, std::ostream& out) {
  const TraceSummary& summary = report.summary;
  const nlohmann::ordered_json json = {
      {"trace", report.trace},
      {"format", TraceFormatName(report.format)},
      {"rows", summary.rows},
      {"first_arrival_ns", summary.first_arrival_ns},
      {"last_arrival_ns", summary.last_arrival_ns},
      {"distinct_arrivals", summary.distinct_arrivals},
      {"input_tokens", TokensJson(summary.input)},
      {"output_tokens", TokensJson(summary.output)},
      {"rows_without_output", summary.rows_without_output},
      {"hash_blocks", summary.hash_blocks},
      {"block_references", summary.block_references},
      {"distinct_blocks", summary.distinct_blocks},
      {"hit_blocks", summary.hit_blocks},
      {"hit_full_block_tokens", summary.hit_full_block_tokens},
      {"partial_tail_reuses", summary.partial_tail_reuses},
      {"parent_conflicts", summary.parent_conflicts},
      {"repeated_ids", summary.repeated_ids},
      {"sessions", summary.sessions},
      {"longest_session_turns", summary.longest_session_turns},
      {"scopes", summary.scopes}};
  out << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
      << "\n";
}

}  // namespace kvsim
