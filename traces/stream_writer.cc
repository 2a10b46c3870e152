#include "traces/stream_writer.h"

#include <utility>

#include "traces/stream_record.h"

namespace kvsim {

StreamWriter::StreamWriter(const TraceWriterOptions& options,
                           std::unique_ptr<ByteSink> sink)
    : options_(options), sink_(std::move(sink)) {}

absl::Status StreamWriter::Write(const TraceRequest& row) {
  ToRow(row, record_.mutable_row());
  ++rows_;
  return WriteRecord();
}

absl::Status StreamWriter::Finish() {
  record_.mutable_trailer()->set_rows(rows_);
  if (absl::Status status = WriteRecord(); !status.ok()) return status;
  return sink_->Close();
}

// Writes record_, and before the first one the header.
absl::Status StreamWriter::WriteRecord() {
  if (!wrote_header_) {
    wrote_header_ = true;
    TraceRecord record = std::move(record_);
    record_.Clear();
    record_.mutable_header()->set_magic(kStreamMagic);
    record_.mutable_header()->set_version(kStreamVersion);
    record_.mutable_header()->set_has_sessions(options_.has_sessions);
    if (absl::Status status = WriteRecord(); !status.ok()) return status;
    record_ = std::move(record);
  }
  bytes_.clear();
  for (size_t size = record_.ByteSizeLong();; size >>= 7) {
    const bool is_last = size < 0x80;
    bytes_.push_back(static_cast<char>((size & 0x7f) | (is_last ? 0 : 0x80)));
    if (is_last) break;
  }
  record_.AppendToString(&bytes_);
  return sink_->Append(bytes_);
}

}  // namespace kvsim
