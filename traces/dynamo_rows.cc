#include "traces/dynamo_rows.h"

#include <algorithm>
#include <optional>
#include <string>

#include "traces/id_count.h"
#include "traces/trace_limits.h"

namespace kvsim {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;
constexpr char kRequestEnd[] = "request_end";

void ReadReplay(simdjson::dom::object object, const TraceProblem& place,
                const std::string& prefix, TraceRequest* row,
                std::vector<TraceProblem>* problems) {
  JsonFields fields(object, place, prefix, problems);
  row->hash_block =
      fields.Integer("trace_block_size", 1, kMaxHashBlock, kAcceptedHashBlock);
  row->input_length =
      fields.Integer("input_length", 1, kMaxTraceTokens, kAcceptedInputLength);
  fields.Ids("input_sequence_hashes", &row->hash_ids);
  if (problems->empty()) {
    CheckIdCount(*row, IdCount::kWholeBlocks, "input_sequence_hashes", &fields);
  }
}

void ReadArrival(JsonFields* event, JsonFields* request, DecodedRow* row) {
  row->service_ns =
      request->OptionalTime("total_time_ms", kNsPerMs).value_or(0);
  if (request->Find("request_received_ms").has_value()) {
    row->request.arrival_ns =
        request->OptionalTime("request_received_ms", kNsPerMs).value_or(0);
    return;
  }
  const std::optional<int64_t> end =
      event->OptionalTime("event_time_unix_ms", kNsPerMs);
  if (!event->Find("event_time_unix_ms").has_value()) {
    event->AddMissing("event_time_unix_ms", "milliseconds since 1970");
  }
  row->request.arrival_ns =
      std::max<int64_t>(0, end.value_or(0) - row->service_ns);
}

void ReadRequest(simdjson::dom::object object, const TraceProblem& place,
                 const std::string& prefix, JsonFields* event, DecodedRow* row,
                 std::vector<TraceProblem>* problems) {
  JsonFields fields(object, place, prefix, problems);
  ReadArrival(event, &fields, row);
  row->request.output_length = fields.Integer(
      "output_tokens", 0, kMaxTraceTokens, kAcceptedOutputLength);
  const auto replay = fields.OptionalObject("replay");
  if (replay.has_value()) {
    ReadReplay(*replay, place, prefix + "replay.", &row->request, problems);
  } else {
    row->request.input_length = fields.Integer(
        "input_tokens", 1, kMaxTraceTokens, kAcceptedInputLength);
  }
}

}  // namespace

RowDecoder::Outcome DynamoRows::DecodeFields(
    JsonFields* fields, const TraceProblem& place, DecodedRow* row,
    std::vector<TraceProblem>* problems) {
  std::string prefix;
  std::optional<JsonFields> inside;
  if (const auto inner = fields->OptionalObject("event"); inner.has_value()) {
    prefix = "event.";
    inside.emplace(*inner, place, prefix, problems);
  }
  JsonFields& event = inside.has_value() ? *inside : *fields;
  const std::string type = event.OptionalName("event_type");
  if (type.empty()) {
    event.AddMissing("event_type", "\"request_end\" or another event's name");
  }
  if (type != kRequestEnd) return Outcome::kNoRequest;
  if (const auto agent = event.OptionalObject("agent_context");
      agent.has_value()) {
    JsonFields context(*agent, place, prefix + "agent_context.", problems);
    row->session = context.OptionalName("session_id");
    row->starter = context.OptionalName("parent_session_id");
  }
  row->has_think_time = false;
  const auto request = event.OptionalObject("request");
  if (request.has_value()) {
    ReadRequest(*request, place, prefix + "request.", &event, row, problems);
  } else {
    event.AddMissing("request", "the request that has ended");
  }
  return Outcome::kRow;
}

}  // namespace kvsim
