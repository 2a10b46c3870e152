#include "traces/mooncake_row.h"

#include <limits>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "traces/json_fields.h"
#include "traces/line_reader.h"
#include "traces/mooncake_scanner.h"
#include "traces/trace_limits.h"

namespace kvsim {
namespace {

static_assert(LineReader::kPadding >= simdjson::SIMDJSON_PADDING);

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
  const auto value = fields.Find("session_id");
  session->is_given = value.has_value();
  if (!value.has_value()) return;
  std::string_view text;
  int64_t number = 0;
  if (value->get_string().get(text) == simdjson::SUCCESS) {
    session->name = std::string(text);
  } else if (value->get_int64().get(number) == simdjson::SUCCESS) {
    session->name = absl::StrCat(number);
  } else {
    fields.AddProblem("session_id", Excerpt(simdjson::minify(*value)),
                      "a string or an integer");
  }
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
  simdjson::dom::element document;
  const auto error =
      parser_.parse(line.data(), line.size(), /*realloc_if_needed=*/false)
          .get(document);
  if (error != simdjson::SUCCESS) {
    problems->push_back(DescribeJsonError(line, error, place));
    return;
  }
  simdjson::dom::object object;
  if (document.get_object().get(object) != simdjson::SUCCESS) {
    TraceProblem problem = place;
    problem.found = Excerpt(line);
    problem.accepted = "one JSON object a line";
    problems->push_back(problem);
    return;
  }
  const size_t before = problems->size();
  JsonFields fields(object, place, "", problems);
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
  if (problems->size() == before &&
      static_cast<int64_t>(row->hash_ids.size()) != ExpectedIds(*row)) {
    fields.AddProblem(
        "hash_ids", absl::StrCat(row->hash_ids.size(), " ids"),
        absl::StrCat(ExpectedIds(*row), " ids: one per ", row->hash_block,
                     " tokens of input_length ", row->input_length,
                     ", the last for the rest"));
  }
}

}  // namespace kvsim
