#include "traces/mooncake_dialects.h"

#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "traces/json_fields.h"
#include "traces/trace_limits.h"

namespace kvsim {

MooncakeDialect KvcacheAiDialect() {
  MooncakeDialect dialect;
  dialect.id_count = IdCount::kEither;
  dialect.needs_timestamp = false;
  dialect.needs_output = false;
  dialect.needs_block_size = true;
  return dialect;
}

MooncakeDialect DynamoMooncakeDialect() {
  MooncakeDialect dialect;
  dialect.timestamp = {"timestamp", "created_time"};
  dialect.input_length = {"input_length", "input_tokens"};
  dialect.output_length = {"output_length", "output_tokens"};
  dialect.delay = {"delay", "delay_ms"};
  dialect.needs_ids = false;
  return dialect;
}

MooncakeDialect AiperfDialect() {
  MooncakeDialect dialect;
  dialect.needs_timestamp = false;
  dialect.needs_output = false;
  dialect.needs_ids = false;
  return dialect;
}

MooncakeDialect TimedTraceDialect(const TimedTraceOptions& options) {
  MooncakeDialect dialect;
  dialect.timestamp = {options.timestamp};
  dialect.input_length = {options.input_length};
  dialect.output_length = {options.output_length};
  dialect.hash_ids = {options.hash_ids};
  dialect.unit_ns = options.unit_ns;
  dialect.hash_block = options.hash_block;
  dialect.id_count = IdCount::kEither;
  return dialect;
}

MooncakeDialectRows::MooncakeDialectRows(MooncakeDialect dialect)
    : dialect_(std::move(dialect)) {}

bool MooncakeDialectRows::MayHaveSessions(absl::string_view first) const {
  return absl::StrContains(first, "\"session_id\"");
}

RowDecoder::Outcome MooncakeDialectRows::DecodeFields(
    JsonFields* fields, const TraceProblem&, DecodedRow* row,
    std::vector<TraceProblem>* problems) {
  ReadTimes(fields, row);
  ReadLengths(fields, &row->request);
  const size_t before = problems->size();
  ReadIds(fields, &row->request);
  if (before == 0 && problems->empty() && row->request.hash_block > 0) {
    CheckIdCount(row->request, dialect_.id_count,
                 fields->OneOf(dialect_.hash_ids), fields);
  }
  if (problems->empty() && !row->session.empty()) {
    sessions_.insert(row->session);
  }
  return Outcome::kRow;
}

void MooncakeDialectRows::ReadTimes(JsonFields* fields, DecodedRow* row) {
  row->session = fields->OptionalName("session_id");
  const std::string name = fields->OneOf(dialect_.timestamp);
  row->has_arrival = fields->Find(name).has_value();
  row->request.arrival_ns =
      fields->OptionalTime(name, dialect_.unit_ns).value_or(0);
  const bool may_lack = !dialect_.needs_timestamp ||
                        sessions_.find(row->session) != sessions_.end();
  if (!row->has_arrival && !may_lack) {
    fields->AddMissing(name, "the time of a session's first turn");
  }
  const std::string delay = fields->OneOf(dialect_.delay);
  row->has_think_time = fields->Find(delay).has_value() || !row->has_arrival;
  row->request.think_time_ns =
      fields->OptionalTime(delay, dialect_.unit_ns).value_or(0);
}

void MooncakeDialectRows::ReadLengths(JsonFields* fields, TraceRequest* row) {
  if (fields->Find("text_input").has_value()) {
    fields->AddProblem("text_input", "text",
                       "input_length in tokens: kvsim has no tokenizer");
  } else {
    row->input_length = fields->Integer(fields->OneOf(dialect_.input_length), 1,
                                        kMaxTraceTokens, kAcceptedInputLength);
  }
  const std::string output = fields->OneOf(dialect_.output_length);
  if (dialect_.needs_output) {
    row->output_length =
        fields->Integer(output, 0, kMaxTraceTokens, kAcceptedOutputLength);
  } else {
    row->output_length = fields->OptionalInteger(output, 0, kMaxTraceTokens, 0,
                                                 kAcceptedOutputLength);
  }
  row->priority =
      fields->OptionalInteger("priority", std::numeric_limits<int64_t>::min(),
                              std::numeric_limits<int64_t>::max(), 0,
                              "an integer of 64 bits; smaller goes first");
}

void MooncakeDialectRows::ReadIds(JsonFields* fields, TraceRequest* row) {
  const std::string name = fields->OneOf(dialect_.hash_ids);
  if (!dialect_.needs_ids && !fields->Find(name).has_value()) return;
  row->hash_block =
      dialect_.needs_block_size
          ? fields->Integer("block_size", 1, kMaxHashBlock, kAcceptedHashBlock)
          : fields->OptionalInteger("block_size", 1, kMaxHashBlock,
                                    dialect_.hash_block, kAcceptedHashBlock);
  fields->Ids(name, &row->hash_ids);
}

}  // namespace kvsim
