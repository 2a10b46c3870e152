// One range of memory copied to another, as a warp does it.
//
// Model:      a range is copied in the widest words, up to 16 bytes, that source and
//             target agree on: `head` single bytes until the target (and so the
//             source) is aligned, `words` words, `tail` single bytes. Long ranges
//             are cut into pieces of kCopyPiece, one a warp at a time: 32 lanes of
//             8 words of 16 bytes, all loaded before the first is stored.
// Units:      bytes.
// Costs:      O(1).
#ifndef KVSIM_KERNELS_BYTE_COPY_H_
#define KVSIM_KERNELS_BYTE_COPY_H_

#include <cstddef>
#include <cstdint>

#include "kernels/host_device.h"

namespace kvsim {

inline constexpr int64_t kCopyPiece = 4096;

struct ByteRange {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  int64_t bytes = 0;

  KVSIM_HOST_DEVICE ByteRange Piece(int64_t index) const {
    const int64_t begin = index * kCopyPiece;
    const int64_t left = bytes - begin;
    return {to + begin, from + begin, left < kCopyPiece ? left : kCopyPiece};
  }
};

KVSIM_HOST_DEVICE inline int64_t CopyPieces(int64_t bytes) {
  return (bytes + kCopyPiece - 1) / kCopyPiece;
}

struct RangeSplit {
  int32_t width = 1;  // bytes of a word: 1, 2, 4, 8 or 16
  int32_t head = 0;   // bytes, less than a word
  int32_t tail = 0;   // likewise
  int64_t words = 0;
};

KVSIM_HOST_DEVICE inline RangeSplit SplitRange(const ByteRange& range) {
  const auto to = reinterpret_cast<uintptr_t>(range.to);
  const auto from = reinterpret_cast<uintptr_t>(range.from);
  const uintptr_t apart = (to ^ from) | 16;
  RangeSplit split;
  split.width = static_cast<int32_t>(apart & (~apart + 1));
  const int64_t wanted = static_cast<int64_t>((~to + 1) & (split.width - 1));
  const int64_t head = wanted < range.bytes ? wanted : range.bytes;
  split.head = static_cast<int32_t>(head);
  split.words = (range.bytes - head) / split.width;
  split.tail =
      static_cast<int32_t>(range.bytes - head - split.words * split.width);
  return split;
}

}  // namespace kvsim

#endif  // KVSIM_KERNELS_BYTE_COPY_H_
