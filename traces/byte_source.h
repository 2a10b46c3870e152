// The bytes of one input file, decompressed.
//
// Model:      a forward stream. A file that starts with zstd's magic number is
//             decompressed on the way (any number of frames); a gzip file is
//             refused with advice. Peek looks ahead without consuming.
// Costs:      one read buffer of 256 KiB, plus zstd's window (128 MiB at most).
// Ownership:  owns the open file. Threads: one.
// Errors:     NotFound, PermissionDenied … for what the system says;
//             InvalidArgument for damaged or truncated zstd. All name the file.
#ifndef KVSIM_TRACES_BYTE_SOURCE_H_
#define KVSIM_TRACES_BYTE_SOURCE_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kvsim {

class ByteSource {
 public:
  static absl::StatusOr<std::unique_ptr<ByteSource>> Open(
      const std::string& path);

  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  ~ByteSource();

  // Copies up to `size` bytes to `to`; the number is less only at the end.
  absl::StatusOr<size_t> Read(char* to, size_t size);

  // The next bytes without consuming them: `size` of them, fewer only at the
  // end. Valid until the next call.
  absl::StatusOr<absl::string_view> Peek(size_t size);

  const std::string& path() const { return path_; }

 private:
  struct Impl;
  explicit ByteSource(std::string path);
  absl::StatusOr<size_t> ReadDecoded(char* to, size_t size);
  absl::StatusOr<size_t> ReadRaw(char* to, size_t size);
  absl::StatusOr<size_t> Decompress(char* to, size_t size);

  std::string path_;
  std::unique_ptr<Impl> impl_;
  std::string ahead_;       // peeked; its front was read already
  size_t ahead_begin_ = 0;  // where the rest begins
};

// The whole rest of a source, for formats that are one document. Fails with
// InvalidArgument when it is longer than max_bytes.
absl::StatusOr<std::string> ReadAll(ByteSource& source, size_t max_bytes);

}  // namespace kvsim

#endif  // KVSIM_TRACES_BYTE_SOURCE_H_
