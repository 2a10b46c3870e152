// Reads kvsim's own trace format (trace.proto).
//
// Errors:     a row with bad values does not end the reading; a damaged record,
//             a missing trailer or a wrong number of rows does. Lines in
//             messages are record numbers, the header being 1.
#ifndef KVSIM_TRACES_STREAM_READER_H_
#define KVSIM_TRACES_STREAM_READER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "traces/byte_source.h"
#include "traces/trace.pb.h"
#include "traces/trace_reader.h"

namespace kvsim {

class StreamReader final : public TraceReader {
 public:
  // Reads the header.
  static absl::StatusOr<std::unique_ptr<StreamReader>> Open(
      std::unique_ptr<ByteSource> source, bool allow_disorder = false);

  absl::StatusOr<bool> Next(TraceRequest* row) override;
  std::span<const TraceProblem> problems() const override { return problems_; }
  bool can_continue() const override { return can_continue_; }
  TraceFormat format() const override { return TraceFormat::kKvsim; }
  bool has_sessions() const override { return has_sessions_; }

 private:
  StreamReader(std::unique_ptr<ByteSource> source, bool allow_disorder);
  absl::Status ReadHeader();
  absl::StatusOr<bool> ReadRecord();
  absl::Status CheckTrailer();
  void DecodeRow(TraceRequest* row);
  absl::Status Damage(const std::string& found, const std::string& accepted);

  std::unique_ptr<ByteSource> source_;
  bool allow_disorder_;
  TraceRecord record_;
  std::string bytes_;
  int64_t record_number_ = 0;
  int64_t rows_ = 0;     // records that are rows, bad ones included
  int64_t next_id_ = 0;  // good rows
  int64_t last_arrival_ns_ = 0;
  bool has_sessions_ = false;
  bool can_continue_ = false;
  bool at_end_ = false;
  std::vector<TraceProblem> problems_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_STREAM_READER_H_
