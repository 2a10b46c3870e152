#include "traces/line_reader.h"

#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kvsim {
namespace {

constexpr size_t kFirstBufferBytes = 128 * 1024;

}  // namespace

LineReader::LineReader(std::unique_ptr<ByteSource> source)
    : source_(std::move(source)), buffer_(kFirstBufferBytes + kPadding) {}

absl::StatusOr<bool> LineReader::Next(absl::string_view* line) {
  while (true) {
    const char* from = buffer_.data() + scanned_;
    const void* newline = std::memchr(from, '\n', end_ - scanned_);
    if (newline != nullptr) {
      const size_t line_end =
          static_cast<const char*>(newline) - buffer_.data();
      *line = absl::string_view(buffer_.data() + begin_, line_end - begin_);
      begin_ = scanned_ = line_end + 1;
      ++line_number_;
      return true;
    }
    scanned_ = end_;
    if (at_end_) {
      if (begin_ == end_) return false;
      *line = absl::string_view(buffer_.data() + begin_, end_ - begin_);
      begin_ = scanned_ = end_;
      ++line_number_;
      return true;
    }
    if (absl::Status status = Fill(); !status.ok()) return status;
  }
}

// Moves the unfinished line to the front, makes room and reads on.
absl::Status LineReader::Fill() {
  const size_t pending = end_ - begin_;
  if (pending > kMaxLineBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        path(), ":", line_number_ + 1, ": found a line of more than ",
        kMaxLineBytes, " bytes; accepted: one request a line"));
  }
  std::memmove(buffer_.data(), buffer_.data() + begin_, pending);
  begin_ = 0;
  scanned_ = end_ = pending;
  if (pending * 2 > buffer_.size()) buffer_.resize(buffer_.size() * 2);
  const size_t room = buffer_.size() - kPadding - end_;
  absl::StatusOr<size_t> read = source_->Read(buffer_.data() + end_, room);
  if (!read.ok()) return read.status();
  end_ += *read;
  at_end_ = *read < room;
  return absl::OkStatus();
}

}  // namespace kvsim
