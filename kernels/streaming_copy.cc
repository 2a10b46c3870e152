#include "kernels/streaming_copy.h"

#include <algorithm>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

// A call that only fetches looks like one without effect to gcc 12, which drops it.
#define KVSIM_ALWAYS_INLINE __attribute__((always_inline)) inline

namespace kvsim {
namespace {

constexpr size_t kPieceBytes = 4096;
// What a cut would leave shorter than this stays with its neighbour: a short piece
// has nothing to be copied side by side with.
constexpr size_t kMinPiece = 1024;
// Shorter ranges are not worth a place in the queue.
constexpr int64_t kMinRange = 512;

#ifdef __SSE2__

constexpr bool kCanStream = true;
// Two lines at a time; write-combining buffers hold one line each.
constexpr size_t kStep = 128;

KVSIM_ALWAYS_INLINE void Fetch(const std::byte* at) {
  _mm_prefetch(reinterpret_cast<const char*>(at), _MM_HINT_T0);
}

// One step; `to` is 16-byte aligned.
inline void StreamStep(std::byte* to, const std::byte* from) {
  const auto* source = reinterpret_cast<const __m128i*>(from);
  auto* target = reinterpret_cast<__m128i*>(to);
  __m128i values[kStep / 16];
#pragma GCC unroll 8
  for (size_t i = 0; i < kStep / 16; ++i) {
    values[i] = _mm_loadu_si128(source + i);
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < kStep / 16; ++i) {
    _mm_stream_si128(target + i, values[i]);
  }
}

void Fence() { _mm_sfence(); }

#else

constexpr bool kCanStream = false;
constexpr size_t kStep = kPieceBytes;

void Fetch(const std::byte*) {}
inline void StreamStep(std::byte* to, const std::byte* from) {
  std::memcpy(to, from, kStep);
}
void Fence() {}

#endif

// Bytes up to the next multiple of `unit` (a power of two) after `address`.
size_t UpTo(const std::byte* address, size_t unit) {
  return unit - (reinterpret_cast<uintptr_t>(address) & (unit - 1));
}

KVSIM_ALWAYS_INLINE void FetchStep(const std::byte* from, size_t offset,
                                   size_t bytes) {
  if (offset >= bytes) return;
  Fetch(from + offset);
  Fetch(from + std::min(offset + kStep / 2, bytes - 1));
}

// How much of `bytes` from `to` on is the first piece: up to a page of memory.
size_t FirstPiece(const std::byte* to, size_t bytes) {
  size_t piece = UpTo(to, kPieceBytes);
  if (piece < kMinPiece) piece += kPieceBytes;
  return piece + kMinPiece > bytes ? bytes : piece;
}

}  // namespace

StreamingCopy::StreamingCopy(int64_t total_bytes)
    : streaming_(kCanStream && total_bytes >= kStreamingBytes) {}

void StreamingCopy::Add(std::byte* to, const std::byte* from, int64_t bytes) {
  if (!streaming_ || bytes < kMinRange) {
    if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
    return;
  }
  for (auto left = static_cast<size_t>(bytes); left > 0;) {
    const size_t piece = FirstPiece(to, left);
    Push({to, from, piece});
    to += piece;
    from += piece;
    left -= piece;
  }
}

void StreamingCopy::Push(const Piece& piece) {
  queue_[queued_++] = piece;
  if (queued_ < kQueued) return;
  CopyTwo(queue_[0], queue_[1], queue_[2], queue_[3]);
  queue_[0] = queue_[2];
  queue_[1] = queue_[3];
  queued_ = 2;
}

void StreamingCopy::Finish() {
  for (int i = 0; i < queued_; ++i) {
    std::memcpy(queue_[i].to, queue_[i].from, queue_[i].bytes);
  }
  queued_ = 0;
  if (streaming_) Fence();
}

void StreamingCopy::CopyTwo(Piece a, Piece b, const Piece& next_a,
                            const Piece& next_b) {
  // The targets' first lines, for their address translation.
  Fetch(next_a.to);
  Fetch(next_b.to);
  for (Piece* piece : {&a, &b}) {
    const size_t head = std::min(piece->bytes, UpTo(piece->to, 16) & 15);
    std::memcpy(piece->to, piece->from, head);
    *piece = {piece->to + head, piece->from + head, piece->bytes - head};
  }
  size_t done = 0;
  for (; done + kStep <= std::min(a.bytes, b.bytes); done += kStep) {
    FetchStep(next_a.from, done, next_a.bytes);
    FetchStep(next_b.from, done, next_b.bytes);
    StreamStep(a.to + done, a.from + done);
    StreamStep(b.to + done, b.from + done);
  }
  for (const Piece& piece : {a, b}) {
    size_t at = done;
    for (; at + kStep <= piece.bytes; at += kStep) {
      StreamStep(piece.to + at, piece.from + at);
    }
    std::memcpy(piece.to + at, piece.from + at, piece.bytes - at);
  }
}

}  // namespace kvsim
