// TraceRequest as a record of kvsim's own trace format, and back.
#ifndef KVSIM_TRACES_STREAM_RECORD_H_
#define KVSIM_TRACES_STREAM_RECORD_H_

#include <cstdint>
#include <vector>

#include "traces/stream_magic.h"
#include "traces/trace.pb.h"
#include "traces/trace_problem.h"
#include "traces/trace_request.h"

namespace kvsim {

inline constexpr uint32_t kStreamVersion = 1;
// A longer record is damage, not data.
inline constexpr uint64_t kMaxRecordBytes = uint64_t{1} << 28;

// Overwrites *row. Exact: FromRow gives the same request, but for its id.
void ToRow(const TraceRequest& request, TraceRow* row);

// Overwrites *request, which becomes row number `id`. Appends what is wrong to
// *problems; `place` is the file and the record's number.
void FromRow(const TraceRow& row, int64_t id, const TraceProblem& place,
             TraceRequest* request, std::vector<TraceProblem>* problems);

}  // namespace kvsim

#endif  // KVSIM_TRACES_STREAM_RECORD_H_
