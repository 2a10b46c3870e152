// Cells and bytes of llama.cpp's caches.
//
// Model:   a cell holds one token in every layer of a cache. The context is
//          rounded up to 256 cells; sequences share one stream (unified), or
//          each has a stream of its own with an equal part of the context,
//          rounded up again. Layers with windows have a second cache of
//          window x sequences of a stream + micro-batch cells, rounded up to
//          256 and never more than the first; --swa-full makes them equal.
//          K of latent attention holds the row, V is empty.
//          Recurrent layers keep fp32 convolution inputs (R) and states (S) for
//          every sequence, and one more copy for each token that a drafter may
//          have to take back.
// Units:   cells of one stream; bytes of all devices together.
// Source:  src/llama-kv-cache-iswa.cpp, src/llama-memory-recurrent.cpp.

#ifndef KVSIM_ENGINES_LLAMA_CPP_CACHE_SIZES_H_
#define KVSIM_ENGINES_LLAMA_CPP_CACHE_SIZES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/units.h"
#include "engines/cache_pools.h"
#include "engines/llama_cpp/settings.h"
#include "engines/rank_layers.h"

namespace kvsim::llama_cpp {

struct CellCounts {
  int64_t streams = 1;
  int64_t cells = 0;  // of one stream
};

// Of a context of `ctx_size` tokens.
CellCounts CountCells(const Settings& settings, int64_t ctx_size);
// Cells of one stream for layers whose widest window is `window`.
int64_t WindowCells(const Settings& settings, const CellCounts& counts,
                    int64_t window);

// K and V of one cell in one layer.
struct CellBytes {
  Bytes k;
  Bytes v;
};
// Errors: InvalidArgument naming flag and width when blocks do not fill a row.
absl::StatusOr<CellBytes> CellOf(const RankLayer& layer, CacheType k,
                                 CacheType v);

// R and S of one sequence in one layer, without copies.
struct StateBytes {
  Bytes r;
  Bytes s;
};
StateBytes StateOf(const RankLayer& layer);
// Copies of a sequence's state.
inline int64_t StateCopies(const Settings& settings) {
  return 1 + settings.draft_max;
}

}  // namespace kvsim::llama_cpp

#endif  // KVSIM_ENGINES_LLAMA_CPP_CACHE_SIZES_H_
