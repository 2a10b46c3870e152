#include "traces/burstgpt_rows.h"

#include <string>

#include "traces/trace_limits.h"

namespace kvsim {

void BurstGptRows::ReadHeader(absl::string_view line, const TraceProblem& place,
                              std::vector<TraceProblem>* problems) {
  table_.ReadHeader(line, {"Timestamp", "Request tokens", "Response tokens"},
                    place, problems);
}

RowDecoder::Outcome BurstGptRows::Decode(absl::string_view line,
                                         const TraceProblem& place,
                                         DecodedRow* row,
                                         std::vector<TraceProblem>* problems) {
  *row = DecodedRow();
  if (!table_.ReadRecord(line, place, problems)) return Outcome::kRow;
  row->request.arrival_ns = table_.Seconds("Timestamp");
  row->request.input_length = table_.Integer(
      "Request tokens", 1, kMaxTraceTokens, kAcceptedInputLength);
  row->request.output_length = table_.Integer(
      "Response tokens", 0, kMaxTraceTokens, kAcceptedOutputLength);
  row->session = std::string(table_.Text("Session ID").value_or(""));
  row->service_ns = table_.OptionalSeconds("Elapsed time");
  row->has_think_time = false;
  return Outcome::kRow;
}

}  // namespace kvsim
