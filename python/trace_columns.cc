#include "python/trace_columns.h"

#include "absl/status/statusor.h"

namespace kvsim {
namespace {

constexpr int64_t kRowsBetweenLooks = 8192;

void Append(const TraceRequest& row, TraceColumns& columns) {
  columns.arrival_ns.push_back(row.arrival_ns);
  columns.input_tokens.push_back(row.input_length);
  columns.output_tokens.push_back(row.output_length);
  columns.priority.push_back(row.priority);
  columns.session.push_back(row.session);
  columns.turn.push_back(row.turn);
  columns.previous.push_back(row.previous);
  columns.think_time_ns.push_back(row.think_time_ns);
}

// The rows before the first one with ids have none.
void BeginIds(size_t rows_before, TraceColumns& columns) {
  columns.block_tokens.assign(rows_before, 0);
  columns.block_scope.assign(rows_before, 0);
  columns.block_offsets.assign(rows_before + 1, 0);
}

void AppendIds(const TraceRequest& row, TraceColumns& columns) {
  columns.block_tokens.push_back(row.hash_block);
  columns.block_scope.push_back(row.scope);
  columns.block_ids.insert(columns.block_ids.end(), row.hash_ids.begin(),
                           row.hash_ids.end());
  columns.block_offsets.push_back(
      static_cast<int64_t>(columns.block_ids.size()));
}

}  // namespace

absl::Status ReadColumns(TraceReader& reader,
                         const std::function<bool()>& go_on,
                         TraceColumns* columns) {
  *columns = TraceColumns();
  TraceRequest row;
  for (int64_t i = 0;; ++i) {
    const absl::StatusOr<bool> found = reader.Next(&row);
    if (!found.ok()) return found.status();
    if (!*found) return absl::OkStatus();
    if (i % kRowsBetweenLooks == 0 && !go_on()) {
      return absl::CancelledError("reading was interrupted");
    }
    if (row.hash_block > 0 && columns->block_offsets.empty()) {
      BeginIds(columns->arrival_ns.size(), *columns);
    }
    Append(row, *columns);
    if (!columns->block_offsets.empty()) AppendIds(row, *columns);
  }
}

}  // namespace kvsim
