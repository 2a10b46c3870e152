// The number of a block in a pool.
//
// Block 0 is the null block: it exists, is counted by the engine's log line, and
// is never given out; a table entry of 0 means "nothing stored here".
#ifndef KVSIM_BASE_BLOCK_ID_H_
#define KVSIM_BASE_BLOCK_ID_H_

#include <cstdint>

namespace kvsim {

using BlockId = uint32_t;
inline constexpr BlockId kNullBlock = 0;

}  // namespace kvsim

#endif  // KVSIM_BASE_BLOCK_ID_H_
