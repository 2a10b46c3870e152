// Cuts a ByteSource into lines without copying them.
//
// Model:      a line ends at '\n' or at the end of the file; the '\n' is not
//             part of it, a '\r' before it is. A final newline is optional and
//             starts no further line.
// Costs:      one buffer of 1 MiB that grows to the longest line; every byte is
//             looked at once.
// Ownership:  owns the source. Threads: one.
#ifndef KVSIM_TRACES_LINE_READER_H_
#define KVSIM_TRACES_LINE_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "traces/byte_source.h"

namespace kvsim {

class LineReader {
 public:
  // Bytes behind every line that may be read (not written): what simdjson
  // wants.
  static constexpr size_t kPadding = 64;
  // A longer line is an error: it is no line of a trace, and reading on would
  // only fill the memory.
  static constexpr size_t kMaxLineBytes = size_t{1} << 28;

  explicit LineReader(std::unique_ptr<ByteSource> source);

  // True: *line is the next line, valid until the next call. False: no more.
  absl::StatusOr<bool> Next(absl::string_view* line);

  // The same, passing over lines of nothing but spaces and tabs.
  absl::StatusOr<bool> NextFilled(absl::string_view* line);

  // The number of the line that was given last, from 1.
  int64_t line_number() const { return line_number_; }
  const std::string& path() const { return source_->path(); }

 private:
  absl::Status Fill();

  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  size_t begin_ = 0;    // buffer_[begin_, end_) is read and not given yet
  size_t scanned_ = 0;  // no newline in buffer_[begin_, scanned_)
  size_t end_ = 0;
  bool at_end_ = false;
  int64_t line_number_ = 0;
};

// Inline: called once a line, where every nanosecond shows.
inline absl::StatusOr<bool> LineReader::NextFilled(absl::string_view* line) {
  while (true) {
    absl::StatusOr<bool> found = Next(line);
    if (!found.ok() || !*found ||
        line->find_first_not_of(" \t\r") != absl::string_view::npos) {
      return found;
    }
  }
}

}  // namespace kvsim

#endif  // KVSIM_TRACES_LINE_READER_H_
