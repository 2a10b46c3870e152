// Moves a trace from a reader to a writer, and checks one.
#ifndef KVSIM_TRACES_TRACE_CONVERT_H_
#define KVSIM_TRACES_TRACE_CONVERT_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "traces/trace_problem.h"
#include "traces/trace_reader.h"
#include "traces/trace_writer.h"

namespace kvsim {

// Copies every row in order and finishes the writer. Returns the number of
// rows.
absl::StatusOr<int64_t> CopyTrace(TraceReader& reader, TraceWriter& writer);

// The same, sorted by arrival; rows of equal arrival keep their order. Holds
// the trace in memory. The reader should allow disorder. Fails when a turn
// would come before the turn it follows.
absl::StatusOr<int64_t> SortTrace(TraceReader& reader, TraceWriter& writer);

struct ValidationCounts {
  int64_t good_rows = 0;
  int64_t bad_rows = 0;
  int64_t problems = 0;
};

// Reads to the end, or to where reading cannot go on, and reports every
// problem. An error that cannot be passed over is a problem too; one of the
// system is returned.
absl::StatusOr<ValidationCounts> ValidateTrace(
    TraceReader& reader,
    const std::function<void(const TraceProblem&)>& report);

}  // namespace kvsim

#endif  // KVSIM_TRACES_TRACE_CONVERT_H_
