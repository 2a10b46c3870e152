#include "traces/trace_convert.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kvsim {
namespace {

absl::StatusOr<std::vector<TraceRequest>> ReadRows(TraceReader& reader) {
  std::vector<TraceRequest> rows;
  while (true) {
    TraceRequest row;
    const absl::StatusOr<bool> found = reader.Next(&row);
    if (!found.ok()) return found.status();
    if (!*found) return rows;
    rows.push_back(std::move(row));
  }
}

// Gives the rows the ids of their new places.
absl::Status Renumber(std::vector<TraceRequest>* rows) {
  std::vector<int64_t> new_ids(rows->size());
  for (size_t i = 0; i < rows->size(); ++i) {
    new_ids[(*rows)[i].id] = static_cast<int64_t>(i);
  }
  for (size_t i = 0; i < rows->size(); ++i) {
    TraceRequest& row = (*rows)[i];
    const int64_t old_id = std::exchange(row.id, static_cast<int64_t>(i));
    if (row.previous < 0) continue;
    const int64_t old_previous =
        std::exchange(row.previous, new_ids[row.previous]);
    if (row.previous > row.id) {
      return absl::InvalidArgumentError(absl::StrCat(
          "row ", old_id, " (from 0) of session ", row.session,
          ": found an arrival before that of its previous turn, row ",
          old_previous, "; accepted: turns in the order of their times"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> CopyTrace(TraceReader& reader, TraceWriter& writer) {
  TraceRequest row;
  for (int64_t rows = 0;; ++rows) {
    const absl::StatusOr<bool> found = reader.Next(&row);
    if (!found.ok()) return found.status();
    if (!*found) {
      if (absl::Status status = writer.Finish(); !status.ok()) return status;
      return rows;
    }
    if (absl::Status status = writer.Write(row); !status.ok()) return status;
  }
}

absl::StatusOr<int64_t> SortTrace(TraceReader& reader, TraceWriter& writer) {
  absl::StatusOr<std::vector<TraceRequest>> rows = ReadRows(reader);
  if (!rows.ok()) return rows.status();
  std::stable_sort(rows->begin(), rows->end(),
                   [](const TraceRequest& a, const TraceRequest& b) {
                     return a.arrival_ns < b.arrival_ns;
                   });
  if (absl::Status status = Renumber(&*rows); !status.ok()) return status;
  for (const TraceRequest& row : *rows) {
    if (absl::Status status = writer.Write(row); !status.ok()) return status;
  }
  if (absl::Status status = writer.Finish(); !status.ok()) return status;
  return static_cast<int64_t>(rows->size());
}

absl::StatusOr<ValidationCounts> ValidateTrace(
    TraceReader& reader,
    const std::function<void(const TraceProblem&)>& report) {
  ValidationCounts counts;
  TraceRequest row;
  while (true) {
    const absl::StatusOr<bool> found = reader.Next(&row);
    if (found.ok()) {
      if (!*found) return counts;
      ++counts.good_rows;
      continue;
    }
    if (reader.problems().empty()) return found.status();
    ++counts.bad_rows;
    for (const TraceProblem& problem : reader.problems()) {
      ++counts.problems;
      report(problem);
    }
    if (!reader.can_continue()) return counts;
  }
}

}  // namespace kvsim
