// Reads a trace row by row; one implementation per file format.
//
// Model:      a stream of rows with ids 0, 1, 2, … and arrivals that never
//             decrease; rows of equal arrival keep the file's order. A row that
//             arrives before its predecessor is refused rather than sorted: a
//             stream cannot sort, row order breaks ties and numbers the rows,
//             and disorder is most often a unit error. `kvsim trace convert
//             --sort` sorts a file once, stably. A WEKA folder is merged by
//             time.
// Costs:      memory is bounded by the longest line (Mooncake), one row
// (kvsim),
//             or all conversations in a compact form (WEKA); time is linear.
// Ownership:  owns its file. Threads: one.
// Errors:     InvalidArgument for what the file says, with place, field, value
// and
//             what is accepted; other codes for what the system says. Never
//             aborts on any input.
#ifndef KVSIM_TRACES_TRACE_READER_H_
#define KVSIM_TRACES_TRACE_READER_H_

#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "traces/trace_options.h"
#include "traces/trace_problem.h"
#include "traces/trace_request.h"

namespace kvsim {

class TraceReader {
 public:
  virtual ~TraceReader() = default;

  // True: *row holds the next row (every field is overwritten; its vector's
  // memory is reused). False: the trace ended cleanly, and again on every later
  // call. Error: *row is unspecified.
  virtual absl::StatusOr<bool> Next(TraceRequest* row) = 0;

  // What was wrong with the row of the last Next that failed; empty when it
  // succeeded or when the system failed.
  virtual std::span<const TraceProblem> problems() const = 0;

  // True after a failed Next that concerned one row only: the next call goes on
  // behind it. The bad row gets no id.
  virtual bool can_continue() const = 0;

  virtual TraceFormat format() const = 0;

  // True when rows may have `session` and `previous`. Known before the first
  // row; for Mooncake files the first row decides.
  virtual bool has_sessions() const = 0;
};

// Reads to the end; calls add(row) for every row. The first error ends it.
template <typename Add>
absl::Status ForEachRow(TraceReader& reader, Add&& add) {
  TraceRequest row;
  while (true) {
    const absl::StatusOr<bool> found = reader.Next(&row);
    if (!found.ok()) return found.status();
    if (!*found) return absl::OkStatus();
    add(row);
  }
}

// Opens a file or a folder. With TraceFormat::kAuto the content decides, never
// the name. Mooncake and kvsim files may be zstd-compressed. Applies
// options.limit and options.rate_scale. An empty file is an
// error, unless the format is given as kMooncake: a trace of 0 rows.
absl::StatusOr<std::unique_ptr<TraceReader>> OpenTrace(
    const std::string& path, const TraceOptions& options);

}  // namespace kvsim

#endif  // KVSIM_TRACES_TRACE_READER_H_
