#include "traces/stream_record.h"

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "traces/trace_limits.h"

namespace kvsim {
namespace {

class RowChecker {
 public:
  RowChecker(const TraceProblem& place, std::vector<TraceProblem>* problems)
      : place_(place), problems_(problems) {}

  void InRange(const char* field, int64_t value, int64_t min, int64_t max,
               const std::string& accepted) {
    if (value < min || value > max) {
      Add(field, absl::StrCat(value), accepted);
    }
  }

  void Add(const char* field, std::string found, std::string accepted) {
    TraceProblem problem = place_;
    problem.field = field;
    problem.found = std::move(found);
    problem.accepted = std::move(accepted);
    problems_->push_back(std::move(problem));
  }

 private:
  TraceProblem place_;
  std::vector<TraceProblem>* problems_;
};

void CheckIds(const TraceRequest& request, RowChecker* checker) {
  const auto ids = static_cast<int64_t>(request.hash_ids.size());
  if (request.hash_block == 0) {
    if (ids != 0) {
      checker->Add("hash_id_steps", absl::StrCat(ids, " ids"),
                   "none, because hash_block is 0");
    }
    return;
  }
  const int64_t full = request.input_length / request.hash_block;
  const int64_t all =
      full + (request.input_length % request.hash_block != 0 ? 1 : 0);
  if (ids != full && ids != all) {
    checker->Add("hash_id_steps", absl::StrCat(ids, " ids"),
                 absl::StrCat(full, " or ", all, " ids for input_length ",
                              request.input_length, " and hash_block ",
                              request.hash_block));
  }
}

}  // namespace

void ToRow(const TraceRequest& request, TraceRow* row) {
  row->Clear();
  row->set_arrival_ns(request.arrival_ns);
  row->set_input_length(request.input_length);
  row->set_output_length(request.output_length);
  row->set_priority(request.priority);
  row->set_hash_block(request.hash_block);
  row->set_scope(request.scope);
  row->set_session_number(request.session + 1);
  row->set_turn(request.turn);
  row->set_previous_number(request.previous + 1);
  row->set_think_time_ns(request.think_time_ns);
  row->mutable_hash_id_steps()->Reserve(
      static_cast<int>(request.hash_ids.size()));
  uint64_t last = 0;
  for (const uint64_t id : request.hash_ids) {
    row->add_hash_id_steps(static_cast<int64_t>(id - last));
    last = id;
  }
}

void FromRow(const TraceRow& row, int64_t id, const TraceProblem& place,
             TraceRequest* request, std::vector<TraceProblem>* problems) {
  request->id = id;
  request->arrival_ns = row.arrival_ns();
  request->input_length = row.input_length();
  request->output_length = row.output_length();
  request->priority = row.priority();
  request->hash_block = row.hash_block();
  request->scope = row.scope();
  request->session = row.session_number() - 1;
  request->turn = row.turn();
  request->previous = row.previous_number() - 1;
  request->think_time_ns = row.think_time_ns();
  request->hash_ids.clear();
  request->hash_ids.reserve(static_cast<size_t>(row.hash_id_steps_size()));
  uint64_t last = 0;
  for (const int64_t step : row.hash_id_steps()) {
    last += static_cast<uint64_t>(step);
    request->hash_ids.push_back(last);
  }
  constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();
  const size_t before = problems->size();
  RowChecker checker(place, problems);
  checker.InRange("arrival_ns", row.arrival_ns(), 0, kMaxTraceTimeNs,
                  "0 to 2^61 nanoseconds");
  checker.InRange("input_length", row.input_length(), 1, kMaxTraceTokens,
                  kAcceptedInputLength);
  checker.InRange("output_length", row.output_length(), 0, kMaxTraceTokens,
                  kAcceptedOutputLength);
  checker.InRange(
      "hash_block", row.hash_block(), 0, kMaxHashBlock,
      "0 for a row without ids, or " + std::string(kAcceptedHashBlock));
  checker.InRange("session_number", row.session_number(), 0, kMaxInt64,
                  "0 for none, or a number from 1");
  checker.InRange("turn", row.turn(), 0, kMaxInt64, "a number from 0");
  checker.InRange("previous_number", row.previous_number(), 0, id,
                  absl::StrCat("0 for none, or an earlier row: 1 to ", id));
  checker.InRange("think_time_ns", row.think_time_ns(), 0, kMaxTraceTimeNs,
                  "0 to 2^61 nanoseconds");
  if (problems->size() == before) CheckIds(*request, &checker);
}

}  // namespace kvsim
