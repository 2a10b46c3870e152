#include "traces/byte_source.h"

#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kvsim {
namespace {

constexpr size_t kBufferBytes = 64 * 1024;
constexpr unsigned char kZstdMagic[] = {0x28, 0xb5, 0x2f, 0xfd};
constexpr unsigned char kGzipMagic[] = {0x1f, 0x8b};

absl::Status SystemError(absl::string_view what, const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat(path, ": ", what));
}

template <size_t kSize>
bool StartsWith(const std::vector<char>& bytes, size_t available,
                const unsigned char (&magic)[kSize]) {
  return available >= kSize && std::memcmp(bytes.data(), magic, kSize) == 0;
}

}  // namespace

struct ByteSource::Impl {
  ~Impl() {
    if (file != nullptr) std::fclose(file);
    if (zstd != nullptr) ZSTD_freeDStream(zstd);
  }

  std::FILE* file = nullptr;
  ZSTD_DStream* zstd = nullptr;  // null: the file is not compressed
  bool frame_open = false;       // a zstd frame has begun and not ended
  std::vector<char> raw = std::vector<char>(kBufferBytes);
  size_t raw_begin = 0;  // raw[raw_begin, raw_end) is read, not used yet
  size_t raw_end = 0;
};

ByteSource::ByteSource(std::string path)
    : path_(std::move(path)), impl_(std::make_unique<Impl>()) {}

ByteSource::~ByteSource() = default;

absl::StatusOr<std::unique_ptr<ByteSource>> ByteSource::Open(
    const std::string& path) {
  std::unique_ptr<ByteSource> source(new ByteSource(path));
  Impl& impl = *source->impl_;
  impl.file = std::fopen(path.c_str(), "rb");
  if (impl.file == nullptr) return SystemError("cannot open", path);
  impl.raw_end = std::fread(impl.raw.data(), 1, impl.raw.size(), impl.file);
  if (std::ferror(impl.file)) return SystemError("cannot read", path);
  if (StartsWith(impl.raw, impl.raw_end, kGzipMagic)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": found gzip data; accepted: plain or zstd-compressed files "
        "(gzip -dc FILE | zstd > FILE.zst)"));
  }
  if (StartsWith(impl.raw, impl.raw_end, kZstdMagic)) {
    impl.zstd = ZSTD_createDStream();
  }
  return source;
}

absl::StatusOr<size_t> ByteSource::Read(char* to, size_t size) {
  const size_t from_ahead = std::min(size, ahead_.size() - ahead_begin_);
  std::memcpy(to, ahead_.data() + ahead_begin_, from_ahead);
  ahead_begin_ += from_ahead;
  if (from_ahead == size) return size;
  absl::StatusOr<size_t> rest = ReadDecoded(to + from_ahead, size - from_ahead);
  if (!rest.ok()) return rest;
  return from_ahead + *rest;
}

absl::StatusOr<absl::string_view> ByteSource::Peek(size_t size) {
  ahead_.erase(0, ahead_begin_);
  ahead_begin_ = 0;
  if (ahead_.size() < size) {
    const size_t before = ahead_.size();
    ahead_.resize(size);
    absl::StatusOr<size_t> read = ReadDecoded(&ahead_[before], size - before);
    ahead_.resize(before + (read.ok() ? *read : 0));
    if (!read.ok()) return read.status();
  }
  return absl::string_view(ahead_).substr(0, size);
}

absl::StatusOr<size_t> ByteSource::ReadDecoded(char* to, size_t size) {
  return impl_->zstd != nullptr ? Decompress(to, size) : ReadRaw(to, size);
}

absl::StatusOr<size_t> ByteSource::ReadRaw(char* to, size_t size) {
  Impl& impl = *impl_;
  const size_t buffered = std::min(size, impl.raw_end - impl.raw_begin);
  std::memcpy(to, impl.raw.data() + impl.raw_begin, buffered);
  impl.raw_begin += buffered;
  if (buffered == size) return size;
  const size_t rest = std::fread(to + buffered, 1, size - buffered, impl.file);
  if (std::ferror(impl.file)) return SystemError("cannot read", path_);
  return buffered + rest;
}

absl::StatusOr<size_t> ByteSource::Decompress(char* to, size_t size) {
  Impl& impl = *impl_;
  ZSTD_outBuffer out = {to, size, 0};
  while (out.pos < out.size) {
    if (impl.raw_begin == impl.raw_end) {
      impl.raw_begin = 0;
      impl.raw_end = std::fread(impl.raw.data(), 1, impl.raw.size(), impl.file);
      if (std::ferror(impl.file)) return SystemError("cannot read", path_);
    }
    ZSTD_inBuffer in = {impl.raw.data(), impl.raw_end, impl.raw_begin};
    const bool at_end = in.pos == in.size;
    const size_t out_before = out.pos;
    // At the end of the file the decoder may still hold output of this frame.
    if (at_end && !impl.frame_open) break;
    const size_t left = ZSTD_decompressStream(impl.zstd, &out, &in);
    if (ZSTD_isError(left)) {
      return absl::InvalidArgumentError(
          absl::StrCat(path_, ": damaged zstd data: ", ZSTD_getErrorName(left),
                       "; accepted: complete zstd frames"));
    }
    impl.raw_begin = in.pos;
    impl.frame_open = left != 0;
    if (at_end && impl.frame_open && out.pos == out_before) {
      return absl::InvalidArgumentError(absl::StrCat(
          path_, ": the zstd data is cut off; accepted: complete zstd frames"));
    }
  }
  return out.pos;
}

absl::StatusOr<std::string> ReadAll(ByteSource& source, size_t max_bytes) {
  std::string text;
  size_t used = 0;
  while (true) {
    text.resize(std::max<size_t>(used * 2, 64 * 1024));
    absl::StatusOr<size_t> read =
        source.Read(text.data() + used, text.size() - used);
    if (!read.ok()) return read.status();
    used += *read;
    if (used > max_bytes) {
      return absl::InvalidArgumentError(
          absl::StrCat(source.path(), ": found more than ", max_bytes,
                       " bytes; accepted: one document of at most that size"));
    }
    if (used < text.size()) break;
  }
  text.resize(used);
  return text;
}

}  // namespace kvsim
