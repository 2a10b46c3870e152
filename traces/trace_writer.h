// Writes a trace row by row; one implementation per file format.
//
// Model:      Write every row in order, then Finish. Only then is the file
//             complete.
// Errors:     what the sink says; the first error ends the writing.
#ifndef KVSIM_TRACES_TRACE_WRITER_H_
#define KVSIM_TRACES_TRACE_WRITER_H_

#include <memory>

#include "absl/status/status.h"
#include "traces/byte_sink.h"
#include "traces/trace_options.h"
#include "traces/trace_request.h"

namespace kvsim {

class TraceWriter {
 public:
  virtual ~TraceWriter() = default;

  // REQUIRES: the invariants of TraceRequest; ids 0, 1, 2, …
  virtual absl::Status Write(const TraceRequest& row) = 0;
  virtual absl::Status Finish() = 0;
};

struct TraceWriterOptions {
  TraceFormat format = TraceFormat::kKvsim;  // or kMooncake
  bool has_sessions = false;  // some rows have a session; readers know at once
  bool keep_ids = false;      // Mooncake: write ids as they are. REQUIRES: all
                              // rows have scope 0 and ceil(length / block) ids
};

// REQUIRES: the format is one of the two.
std::unique_ptr<TraceWriter> MakeTraceWriter(const TraceWriterOptions& options,
                                             std::unique_ptr<ByteSink> sink);

}  // namespace kvsim

#endif  // KVSIM_TRACES_TRACE_WRITER_H_
