// Where a trace is written: a file or a stream, compressed or not.
//
// Model:      Append collects, Close finishes. A file's content is complete
//             only when Close has returned OK.
// Costs:      one buffer of 256 KiB; zstd level 3 with a check sum and a window
//             that any decoder accepts.
// Errors:     what the system says (disk full, …), with the file's name; after
//             an error every later call repeats it.
#ifndef KVSIM_TRACES_BYTE_SINK_H_
#define KVSIM_TRACES_BYTE_SINK_H_

#include <cstdio>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kvsim {

enum class Compression { kNone, kZstd };

class ByteSink {
 public:
  // Creates or overwrites the file.
  static absl::StatusOr<std::unique_ptr<ByteSink>> Open(
      const std::string& path, Compression compression);
  // Writes to *out, which must outlive the sink; `name` stands in messages.
  static std::unique_ptr<ByteSink> ToStream(std::ostream* out,
                                            const std::string& name,
                                            Compression compression);

  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  // Closes the file if Close was not called, ignoring errors.
  ~ByteSink();

  absl::Status Append(absl::string_view bytes);
  absl::Status Close();

 private:
  struct Zstd;
  ByteSink(std::string name, Compression compression);
  absl::Status Flush(bool is_end);
  absl::Status Compress(bool is_end);
  absl::Status Write(absl::string_view bytes);
  absl::Status SystemError();

  std::string name_;
  std::FILE* file_ = nullptr;  // one of the two
  std::ostream* stream_ = nullptr;
  std::unique_ptr<Zstd> zstd_;  // null: not compressed
  std::string buffer_;          // not compressed or written yet
  absl::Status status_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_BYTE_SINK_H_
