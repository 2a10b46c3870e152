#include "traces/openai_rows.h"

#include <optional>
#include <string_view>

#include "absl/strings/string_view.h"
#include "traces/civil_time.h"
#include "traces/json_fields.h"
#include "traces/trace_limits.h"

namespace kvsim {
namespace {

// A number of seconds or a civil time.
int64_t ReadTime(JsonFields* fields) {
  const std::string name =
      fields->OneOf({"created", "created_at", "timestamp"});
  const auto value = fields->Find(name);
  std::string_view text;
  if (!value.has_value() ||
      value->get_string().get(text) != simdjson::SUCCESS) {
    return fields->Seconds(name);
  }
  const std::optional<int64_t> time_ns =
      ParseCivilTime(absl::string_view(text.data(), text.size()));
  if (!time_ns.has_value()) {
    fields->AddProblem(name, Excerpt({text.data(), text.size()}),
                       kAcceptedCivilTime);
  }
  return time_ns.value_or(0);
}

void ReadTokens(JsonFields* fields, TraceRequest* row) {
  row->input_length =
      fields->Integer(fields->OneOf({"prompt_tokens", "input_tokens"}), 1,
                      kMaxTraceTokens, kAcceptedInputLength);
  row->output_length = fields->OptionalInteger(
      fields->OneOf({"completion_tokens", "output_tokens"}), 0, kMaxTraceTokens,
      0, kAcceptedOutputLength);
}

}  // namespace

RowDecoder::Outcome OpenAiRows::DecodeFields(
    JsonFields* fields, const TraceProblem& place, DecodedRow* row,
    std::vector<TraceProblem>* problems) {
  row->request.arrival_ns = ReadTime(fields);
  row->session =
      fields->OptionalName(fields->OneOf({"session_id", "conversation_id"}));
  row->has_think_time = false;
  if (const auto usage = fields->OptionalObject("usage"); usage.has_value()) {
    JsonFields counts(*usage, place, "usage.", problems);
    ReadTokens(&counts, &row->request);
  } else {
    ReadTokens(fields, &row->request);
  }
  return Outcome::kRow;
}

}  // namespace kvsim
