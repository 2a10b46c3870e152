#include "base/output_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kvsim {
namespace {

absl::Status SystemError(const std::string& path) {
  const std::string message = absl::StrCat(path, ": ", std::strerror(errno));
  return errno == ENOSPC ? absl::ResourceExhaustedError(message)
                         : absl::UnavailableError(message);
}

}  // namespace

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Open(
    const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return SystemError(path);
  return std::unique_ptr<OutputFile>(new OutputFile(path, file));
}

OutputFile::OutputFile(std::string path, std::FILE* file)
    : path_(std::move(path)), file_(file) {}

OutputFile::~OutputFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void OutputFile::Write(absl::string_view text) {
  if (!status_.ok() || file_ == nullptr || text.empty()) return;
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) Fail();
}

absl::Status OutputFile::Close() {
  if (file_ == nullptr) return status_;
  if (std::fflush(file_) != 0 && status_.ok()) Fail();
  if (std::fclose(file_) != 0 && status_.ok()) Fail();
  file_ = nullptr;
  return status_;
}

void OutputFile::Fail() { status_ = SystemError(path_); }

}  // namespace kvsim
