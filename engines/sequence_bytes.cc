#include "engines/sequence_bytes.h"

#include <cstdint>

namespace kvsim {

Bytes SequenceBytes(const CacheLayout& layout, Tokens length) {
  if (length <= kMaxLayoutTokens) return layout.BytesAt(length);
  const double bytes =
      layout.BytesPerToken() * static_cast<double>(length.value());
  return bytes < 0x1p62
             ? layout.FixedBytes() + Bytes(static_cast<int64_t>(bytes))
             : Bytes::Max();
}

}  // namespace kvsim
