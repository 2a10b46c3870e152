#include "traces/lookup_rows.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "traces/id_count.h"
#include "traces/trace_limits.h"

namespace kvsim {

LookupLog LmcacheLog() {
  return {.hashes = {"chunk_hashes"},
          .length = {"seq_len"},
          .chunk_size = "chunk_size",
          .default_chunk_size = 256,
          .has_operations = false};
}

LookupLog UcmLog() {
  return {.hashes = {"block_hashes", "hashes"},
          .length = {"tokens_num", "seq_len"},
          .chunk_size = "block_size",
          .default_chunk_size = 512,
          .has_operations = true};
}

LookupRows::LookupRows(LookupLog log) : log_(std::move(log)) {}

RowDecoder::Outcome LookupRows::DecodeFields(
    JsonFields* fields, const TraceProblem&, DecodedRow* row,
    std::vector<TraceProblem>* problems) {
  if (log_.has_operations) {
    const std::string operation = fields->OptionalName("op_type");
    if (operation.empty()) {
      fields->AddMissing("op_type", "\"load\", \"lookup\" or another's name");
    }
    if (operation != "load" && operation != "lookup") {
      return Outcome::kNoRequest;
    }
  }
  TraceRequest& request = row->request;
  request.arrival_ns = fields->Seconds("timestamp");
  request.hash_block =
      fields->OptionalInteger(log_.chunk_size, 1, kMaxHashBlock,
                              log_.default_chunk_size, kAcceptedHashBlock);
  fields->HashNames(fields->OneOf(log_.hashes), &request.hash_ids);
  ReadLength(fields, &request);
  if (problems->empty()) {
    CheckIdCount(request, IdCount::kWholeBlocks, fields->OneOf(log_.hashes),
                 fields);
  }
  return Outcome::kRow;
}

void LookupRows::ReadLength(JsonFields* fields, TraceRequest* row) {
  const int64_t whole =
      std::min(kMaxTraceTokens,
               static_cast<int64_t>(row->hash_ids.size()) * row->hash_block);
  row->input_length = fields->OptionalInteger(
      fields->OneOf(log_.length), 1, kMaxTraceTokens,
      std::max<int64_t>(1, whole), kAcceptedInputLength);
}

}  // namespace kvsim
