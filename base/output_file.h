// A file being written; errors are kept until someone asks.
//
// Model:      Write() never fails visibly; the first error (disk full, no
//             permission, a closed pipe) stays in status() and makes later
//             writes do nothing. Only Close() knows whether everything arrived.
// Costs:      buffered: a memory copy per Write.
// Ownership:  owns the file; the destructor closes it and drops the status.
// Errors:     name the path and what the system said.
#ifndef KVSIM_BASE_OUTPUT_FILE_H_
#define KVSIM_BASE_OUTPUT_FILE_H_

#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kvsim {

class OutputFile {
 public:
  // Creates or empties the file.
  static absl::StatusOr<std::unique_ptr<OutputFile>> Open(
      const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void Write(absl::string_view text);
  const absl::Status& status() const { return status_; }
  // Flushes and closes. Calling it again repeats the answer.
  absl::Status Close();

 private:
  OutputFile(std::string path, std::FILE* file);
  void Fail();

  std::string path_;
  std::FILE* file_;  // null once closed
  absl::Status status_;
};

}  // namespace kvsim

#endif  // KVSIM_BASE_OUTPUT_FILE_H_
