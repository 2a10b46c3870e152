// Writes kvsim's own trace format (trace.proto). The sink should compress.
#ifndef KVSIM_TRACES_STREAM_WRITER_H_
#define KVSIM_TRACES_STREAM_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "traces/trace.pb.h"
#include "traces/trace_writer.h"

namespace kvsim {

class StreamWriter final : public TraceWriter {
 public:
  StreamWriter(const TraceWriterOptions& options,
               std::unique_ptr<ByteSink> sink);

  absl::Status Write(const TraceRequest& row) override;
  absl::Status Finish() override;

 private:
  absl::Status WriteRecord();

  TraceWriterOptions options_;
  std::unique_ptr<ByteSink> sink_;
  int64_t rows_ = 0;
  bool wrote_header_ = false;
  TraceRecord record_;
  std::string bytes_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_STREAM_WRITER_H_
