#include "traces/mooncake_row.h"

#include <limits>
#include <optional>

#include "traces/id_count.h"
#include "traces/json_fields.h"
#include "traces/mooncake_scanner.h"
#include "traces/trace_limits.h"

namespace kvsim {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kMinInt64 = std::numeric_limits<int64_t>::min();
constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

void Reset(TraceRequest* row) {
  row->hash_ids.clear();
  row->priority = 0;
  row->hash_block = kMooncakeHashBlock;
  row->scope = 0;
  row->think_time_ns = 0;
}

// REQUIRES: input_length >= 0, hash_block > 0.
int64_t ExpectedIds(const TraceRequest& request) {
  return request.input_length / request.hash_block +
         (request.input_length % request.hash_block != 0 ? 1 : 0);
}

bool IsInRange(const TraceRequest& request, uint64_t timestamp_ms) {
  return timestamp_ms <= uint64_t{kMaxTraceTimeNs / kNsPerMs} &&
         request.input_length >= 1 && request.input_length <= kMaxTraceTokens &&
         request.output_length >= 0 &&
         request.output_length <= kMaxTraceTokens &&
         static_cast<int64_t>(request.hash_ids.size()) == ExpectedIds(request);
}

void ReadSession(JsonFields& fields, MooncakeSession* session) {
  session->is_given = fields.Find("session_id").has_value();
  if (session->is_given) session->name = fields.OptionalName("session_id");
}

}  // namespace

bool MooncakeRowDecoder::DecodeFast(absl::string_view line, TraceRequest* row) {
  Reset(row);
  uint64_t timestamp_ms = 0;
  if (!ScanMooncakeLine(line, row, &timestamp_ms) ||
      !IsInRange(*row, timestamp_ms)) {
    return false;
  }
  row->arrival_ns = static_cast<int64_t>(timestamp_ms) * kNsPerMs;
  return true;
}

void MooncakeRowDecoder::DecodeChecked(absl::string_view line,
                                       const TraceProblem& place,
                                       TraceRequest* row,
                                       MooncakeSession* session,
                                       std::vector<TraceProblem>* problems) {
  Reset(row);
  const std::optional<simdjson::dom::object> object =
      parser_.Parse(line, place, problems);
  if (!object.has_value()) return;
  const size_t before = problems->size();
  JsonFields fields(*object, place, "", problems);
  row->arrival_ns = fields.Milliseconds("timestamp");
  row->input_length =
      fields.Integer("input_length", 1, kMaxTraceTokens, kAcceptedInputLength);
  row->output_length = fields.Integer("output_length", 0, kMaxTraceTokens,
                                      kAcceptedOutputLength);
  row->priority =
      fields.OptionalInteger("priority", kMinInt64, kMaxInt64, 0,
                             "an integer of 64 bits; smaller goes first");
  row->hash_block = fields.OptionalInteger(
      "block_size", 1, kMaxHashBlock, kMooncakeHashBlock, kAcceptedHashBlock);
  row->think_time_ns = fields.OptionalMilliseconds("delay").value_or(0);
  ReadSession(fields, session);
  fields.Ids("hash_ids", &row->hash_ids);
  // Only a sound length says how many ids there must be.
  if (problems->size() == before) {
    CheckIdCount(*row, IdCount::kAllBlocks, "hash_ids", &fields);
  }
}

}  // namespace kvsim
