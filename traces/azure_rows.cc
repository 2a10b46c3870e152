#include "traces/azure_rows.h"

#include <optional>

#include "traces/civil_time.h"
#include "traces/trace_limits.h"

namespace kvsim {

void AzureRows::ReadHeader(absl::string_view line, const TraceProblem& place,
                           std::vector<TraceProblem>* problems) {
  table_.ReadHeader(line, {"TIMESTAMP", "ContextTokens", "GeneratedTokens"},
                    place, problems);
}

RowDecoder::Outcome AzureRows::Decode(absl::string_view line,
                                      const TraceProblem& place,
                                      DecodedRow* row,
                                      std::vector<TraceProblem>* problems) {
  *row = DecodedRow();
  if (!table_.ReadRecord(line, place, problems)) return Outcome::kRow;
  const std::optional<int64_t> arrival_ns =
      ParseCivilTime(table_.Text("TIMESTAMP").value_or(""));
  if (!arrival_ns.has_value()) {
    table_.AddProblem("TIMESTAMP", kAcceptedCivilTime);
  }
  row->request.arrival_ns = arrival_ns.value_or(0);
  row->request.input_length =
      table_.Integer("ContextTokens", 1, kMaxTraceTokens, kAcceptedInputLength);
  row->request.output_length = table_.Integer(
      "GeneratedTokens", 0, kMaxTraceTokens, kAcceptedOutputLength);
  return Outcome::kRow;
}

}  // namespace kvsim
