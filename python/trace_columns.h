// A whole trace in memory, one array per field of a request.
//
// Model:      row i of every column is the i-th request in reading order, which
//             is its id. Block ids are ragged: those of row i are
//             block_ids[block_offsets[i]] up to block_offsets[i + 1].
// Invariants: (1) all columns of a trace have one length, block_offsets one
//                 more; (2) block_offsets begins with 0, never decreases and
//                 ends with the number of block_ids.
// Units:      tokens and nanoseconds; what a column means is in
//             traces/trace_request.h.
// Costs:      64 bytes a row; of a trace with block ids 88, and 8 an id. While
//             it grows up to three times that.
#ifndef KVSIM_PYTHON_TRACE_COLUMNS_H_
#define KVSIM_PYTHON_TRACE_COLUMNS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "traces/trace_reader.h"

namespace kvsim {

struct TraceColumns {
  std::vector<int64_t> arrival_ns, input_tokens, output_tokens, priority;
  std::vector<int64_t> session, turn, previous, think_time_ns;

  // Empty when no row has block ids.
  std::vector<int64_t> block_tokens;  // tokens per id
  std::vector<uint64_t> block_scope, block_ids;
  std::vector<int64_t> block_offsets;
};

// Reads to the end. `go_on` is asked every few thousand rows; when it says no
// the reading ends with Cancelled. Other errors are the reader's.
absl::Status ReadColumns(TraceReader& reader,
                         const std::function<bool()>& go_on,
                         TraceColumns* columns);

}  // namespace kvsim

#endif  // KVSIM_PYTHON_TRACE_COLUMNS_H_
