#include "traces/stream_reader.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "traces/stream_record.h"

namespace kvsim {

StreamReader::StreamReader(std::unique_ptr<ByteSource> source,
                           bool allow_disorder)
    : source_(std::move(source)), allow_disorder_(allow_disorder) {}

absl::StatusOr<std::unique_ptr<StreamReader>> StreamReader::Open(
    std::unique_ptr<ByteSource> source, bool allow_disorder) {
  auto reader =
      absl::WrapUnique(new StreamReader(std::move(source), allow_disorder));
  if (absl::Status status = reader->ReadHeader(); !status.ok()) return status;
  return reader;
}

absl::Status StreamReader::Damage(const std::string& found,
                                  const std::string& accepted) {
  TraceProblem problem{source_->path(), record_number_, "", found, accepted};
  problems_.push_back(problem);
  return problem.ToStatus();
}

absl::Status StreamReader::ReadHeader() {
  const absl::StatusOr<bool> found = ReadRecord();
  if (!found.ok()) return found.status();
  if (!*found || !record_.has_header() ||
      record_.header().magic() != kStreamMagic) {
    return Damage("no kvsim trace header",
                  "a file written by `kvsim trace convert --to kvsim`");
  }
  if (record_.header().version() != kStreamVersion) {
    return Damage(absl::StrCat("version ", record_.header().version()),
                  absl::StrCat("version ", kStreamVersion));
  }
  has_sessions_ = record_.header().has_sessions();
  return absl::OkStatus();
}

// Reads one record into record_; false at the end of the file.
absl::StatusOr<bool> StreamReader::ReadRecord() {
  ++record_number_;
  uint64_t size = 0;
  for (int shift = 0;; shift += 7) {
    char byte = 0;
    const absl::StatusOr<size_t> read = source_->Read(&byte, 1);
    if (!read.ok()) return read.status();
    if (*read == 0) {
      if (shift == 0) return false;
      return Damage("a record cut off in its length", "a complete record");
    }
    size |= uint64_t{static_cast<unsigned char>(byte) & 0x7fu} << shift;
    if ((static_cast<unsigned char>(byte) & 0x80) == 0) break;
    if (shift == 28) size = kMaxRecordBytes + 1;
    if (size > kMaxRecordBytes) break;
  }
  if (size > kMaxRecordBytes) {
    return Damage(absl::StrCat("a record length above ", kMaxRecordBytes),
                  "records of at most that many bytes");
  }
  bytes_.resize(size);
  const absl::StatusOr<size_t> read = source_->Read(bytes_.data(), size);
  if (!read.ok()) return read.status();
  if (*read < size) {
    return Damage(
        absl::StrCat("a record cut off after ", *read, " of ", size, " bytes"),
        "a complete record");
  }
  if (!record_.ParseFromString(bytes_)) {
    return Damage("bytes that are no TraceRecord", "a TraceRecord message");
  }
  return true;
}

absl::StatusOr<bool> StreamReader::Next(TraceRequest* row) {
  problems_.clear();
  can_continue_ = false;
  if (at_end_) return false;
  const absl::StatusOr<bool> found = ReadRecord();
  if (!found.ok()) return found.status();
  if (!*found) {
    return Damage("the end of the file before the trailer",
                  "a complete file; this one was cut off");
  }
  if (record_.has_trailer()) {
    if (absl::Status status = CheckTrailer(); !status.ok()) return status;
    at_end_ = true;
    return false;
  }
  if (!record_.has_row()) {
    return Damage("a record that is no row and no trailer", "a row");
  }
  ++rows_;
  DecodeRow(row);
  if (!problems_.empty()) {
    can_continue_ = true;
    return problems_.front().ToStatus();
  }
  last_arrival_ns_ = row->arrival_ns;
  ++next_id_;
  return true;
}

void StreamReader::DecodeRow(TraceRequest* row) {
  TraceProblem place{source_->path(), record_number_, "", "", ""};
  FromRow(record_.row(), next_id_, place, row, &problems_);
  if (!problems_.empty()) return;
  if (row->arrival_ns < last_arrival_ns_ && !allow_disorder_) {
    place.field = "arrival_ns";
    place.found = absl::StrCat(row->arrival_ns);
    place.accepted =
        absl::StrCat("at least the row before it, ", last_arrival_ns_);
    problems_.push_back(place);
  }
  if (row->session >= 0 && !has_sessions_) {
    place.field = "session_number";
    place.found = absl::StrCat(row->session + 1);
    place.accepted = "0, because the header announces no sessions";
    problems_.push_back(place);
  }
}

absl::Status StreamReader::CheckTrailer() {
  const int64_t announced = record_.trailer().rows();
  if (announced != rows_) {
    return Damage(absl::StrCat("a trailer for ", announced, " rows after ",
                               rows_, " rows"),
                  "as many rows as the trailer says");
  }
  const absl::StatusOr<absl::string_view> rest = source_->Peek(1);
  if (!rest.ok()) return rest.status();
  if (!rest->empty()) return Damage("data behind the trailer", "nothing");
  return absl::OkStatus();
}

}  // namespace kvsim
