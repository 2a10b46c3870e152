// The logical cache of one sequence, whatever its length.
#ifndef KVSIM_ENGINES_SEQUENCE_BYTES_H_
#define KVSIM_ENGINES_SEQUENCE_BYTES_H_

#include "base/units.h"
#include "models/cache_layout.h"

namespace kvsim {

// No sharding, no rounding to blocks. Lengths beyond kMaxLayoutTokens, where the
// layout is no longer exact, go by the cost per token; saturates.
Bytes SequenceBytes(const CacheLayout& layout, Tokens length);

}  // namespace kvsim

#endif  // KVSIM_ENGINES_SEQUENCE_BYTES_H_
