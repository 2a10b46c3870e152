// Copies many ranges of host memory, fast when together they exceed the caches.
//
// Model:      ranges are cut where their target crosses a page of memory, and the
//             pieces wait in a short queue: two are copied side by side, as the C
//             library's memcpy does inside one large range, while the two behind
//             them are fetched. Stores bypass the caches (SSE2, which every x86-64
//             has; AVX2 seemed no faster on the one machine where it was tried),
//             which saves reading the target. Below kStreamingBytes in total, and on
//             machines other than x86, it is memcpy.
// Costs:      no allocation; pages of 4 KiB in random order come near the speed of
//             one large memcpy (copy_blocks_benchmark.cc).
// Errors:     REQUIRES: no target overlaps another range. The bytes are there once
//             Finish() has returned, not before.
#ifndef KVSIM_KERNELS_STREAMING_COPY_H_
#define KVSIM_KERNELS_STREAMING_COPY_H_

#include <cstddef>
#include <cstdint>

namespace kvsim {

class StreamingCopy {
 public:
  // Totals from here on bypass the caches: they would not stay there.
  static constexpr int64_t kStreamingBytes = int64_t{16} << 20;

  // `total_bytes`: of all ranges to come, roughly.
  explicit StreamingCopy(int64_t total_bytes);
  StreamingCopy(const StreamingCopy&) = delete;
  StreamingCopy& operator=(const StreamingCopy&) = delete;
  ~StreamingCopy() { Finish(); }

  void Add(std::byte* to, const std::byte* from, int64_t bytes);
  // Idempotent; more ranges may follow.
  void Finish();

 private:
  struct Piece {
    std::byte* to = nullptr;
    const std::byte* from = nullptr;
    size_t bytes = 0;
  };
  static constexpr int kQueued = 4;

  void Push(const Piece& piece);
  static void CopyTwo(Piece a, Piece b, const Piece& next_a,
                      const Piece& next_b);

  bool streaming_;
  int queued_ = 0;
  Piece queue_[kQueued];  // oldest first
};

}  // namespace kvsim

#endif  // KVSIM_KERNELS_STREAMING_COPY_H_
