#include "traces/bailian_rows.h"

#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "traces/id_count.h"
#include "traces/json_fields.h"
#include "traces/trace_limits.h"

namespace kvsim {
namespace {

constexpr int64_t kHashBlock = 16;
constexpr int64_t kMaxChat = std::numeric_limits<int64_t>::max();
constexpr char kAcceptedChat[] = "an integer from 0 to 9223372036854775807";
constexpr char kAcceptedParent[] =
    "an integer from -1 (no parent) to 9223372036854775807";

}  // namespace

RowDecoder::Outcome BailianRows::DecodeFields(
    JsonFields* fields, const TraceProblem&, DecodedRow* row,
    std::vector<TraceProblem>* problems) {
  TraceRequest& request = row->request;
  const int64_t chat = fields->Integer("chat_id", 0, kMaxChat, kAcceptedChat);
  const int64_t parent =
      fields->Integer("parent_chat_id", -1, kMaxChat, kAcceptedParent);
  row->name = absl::StrCat(chat);
  if (parent >= 0) row->parent = absl::StrCat(parent);
  row->has_think_time = false;
  request.arrival_ns = fields->Seconds("timestamp");
  request.input_length =
      fields->Integer("input_length", 1, kMaxTraceTokens, kAcceptedInputLength);
  request.output_length = fields->Integer("output_length", 0, kMaxTraceTokens,
                                          kAcceptedOutputLength);
  request.hash_block = kHashBlock;
  fields->Ids("hash_ids", &request.hash_ids);
  if (problems->empty()) {
    CheckIdCount(request, IdCount::kEither, "hash_ids", fields);
  }
  return Outcome::kRow;
}

}  // namespace kvsim
