#include "traces/byte_sink.h"

#include <zstd.h>

#include <cerrno>
#include <ostream>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"

namespace kvsim {
namespace {

constexpr size_t kBufferBytes = 256 * 1024;
constexpr int kZstdLevel = 3;

}  // namespace

struct ByteSink::Zstd {
  Zstd() : context(ZSTD_createCCtx()), out(ZSTD_CStreamOutSize()) {
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, kZstdLevel);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  }
  ~Zstd() { ZSTD_freeCCtx(context); }

  ZSTD_CCtx* context;
  std::vector<char> out;
};

ByteSink::ByteSink(std::string name, Compression compression)
    : name_(std::move(name)) {
  if (compression == Compression::kZstd) zstd_ = std::make_unique<Zstd>();
}

ByteSink::~ByteSink() {
  if (file_ != nullptr) std::fclose(file_);
}

absl::StatusOr<std::unique_ptr<ByteSink>> ByteSink::Open(
    const std::string& path, Compression compression) {
  auto sink = absl::WrapUnique(new ByteSink(path, compression));
  sink->file_ = std::fopen(path.c_str(), "wb");
  if (sink->file_ == nullptr) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot create"));
  }
  return sink;
}

std::unique_ptr<ByteSink> ByteSink::ToStream(std::ostream* out,
                                             const std::string& name,
                                             Compression compression) {
  auto sink = absl::WrapUnique(new ByteSink(name, compression));
  sink->stream_ = out;
  return sink;
}

absl::Status ByteSink::Append(absl::string_view bytes) {
  buffer_.append(bytes.data(), bytes.size());
  return buffer_.size() < kBufferBytes ? status_ : Flush(/*is_end=*/false);
}

absl::Status ByteSink::Close() {
  Flush(/*is_end=*/true).IgnoreError();  // kept in status_
  if (stream_ != nullptr) {
    stream_->flush();
    if (status_.ok() && stream_->fail()) status_ = SystemError();
    return status_;
  }
  if (file_ == nullptr) return status_;
  errno = 0;
  const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
  if (status_.ok() && !closed) status_ = SystemError();
  return status_;
}

absl::Status ByteSink::Flush(bool is_end) {
  if (!status_.ok()) return status_;
  status_ = zstd_ != nullptr ? Compress(is_end) : Write(buffer_);
  buffer_.clear();
  return status_;
}

absl::Status ByteSink::Compress(bool is_end) {
  ZSTD_inBuffer in = {buffer_.data(), buffer_.size(), 0};
  const ZSTD_EndDirective mode = is_end ? ZSTD_e_end : ZSTD_e_continue;
  while (true) {
    ZSTD_outBuffer out = {zstd_->out.data(), zstd_->out.size(), 0};
    const size_t left = ZSTD_compressStream2(zstd_->context, &out, &in, mode);
    if (ZSTD_isError(left)) {
      return absl::InternalError(
          absl::StrCat(name_, ": zstd: ", ZSTD_getErrorName(left)));
    }
    absl::Status status = Write({zstd_->out.data(), out.pos});
    if (!status.ok()) return status;
    const bool is_done = is_end ? left == 0 : in.pos == in.size;
    if (is_done) return absl::OkStatus();
  }
}

absl::Status ByteSink::Write(absl::string_view bytes) {
  errno = 0;
  if (stream_ != nullptr) {
    stream_->write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return stream_->fail() ? SystemError() : absl::OkStatus();
  }
  const size_t written = std::fwrite(bytes.data(), 1, bytes.size(), file_);
  return written == bytes.size() ? absl::OkStatus() : SystemError();
}

absl::Status ByteSink::SystemError() {
  const int code = errno != 0 ? errno : EIO;
  return absl::ErrnoToStatus(
      code, absl::StrCat(name_, ": cannot write; the output is incomplete"));
}

}  // namespace kvsim
