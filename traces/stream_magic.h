// How kvsim's own trace format is recognised.
#ifndef KVSIM_TRACES_STREAM_MAGIC_H_
#define KVSIM_TRACES_STREAM_MAGIC_H_

#include <cstddef>

namespace kvsim {

inline constexpr char kStreamMagic[] = "kvsim-trace";
// The bytes that every uncompressed file of this format has at this offset,
// behind two lengths and two tags.
inline constexpr size_t kStreamMagicAt = 5;

}  // namespace kvsim

#endif  // KVSIM_TRACES_STREAM_MAGIC_H_
