// What a cache group keeps and how large its pieces are, as far as page operations
// care: the simulator's word for the engine's groups.
//
// Units:      tokens; bytes of one rank.
#ifndef KVSIM_SIM_PAGED_GROUP_H_
#define KVSIM_SIM_PAGED_GROUP_H_

#include <algorithm>
#include <cstdint>

#include "base/units.h"
#include "engines/state_mode.h"

namespace kvsim {

struct PagedGroup {
  enum class Keeps : uint8_t { kAll, kWindow, kChunk, kEncoder, kState };
  Keeps keeps = Keeps::kAll;
  int64_t block_tokens = 0;                  // of a table entry
  int64_t tokens = 0;                        // window, chunk, encoder's length
  StateMode state_mode = StateMode::kAlign;  // kState

  int64_t layers = 1;
  int64_t row_bytes = 0;    // one token in all layers
  int64_t state_bytes = 0;  // kState: one state of all layers
  int64_t block_bytes = 0;  // of all layers, padding included

  bool holds_rows() const { return keeps != Keeps::kState; }
  // A layer's part of a block: what copies move in one piece.
  int64_t PageBytes() const {
    return std::max<int64_t>(1, block_bytes / layers);
  }
  // The table entry that holds the last of so many tokens. REQUIRES: tokens > 0.
  int64_t EntryOf(int64_t num_tokens) const {
    return CeilDiv(num_tokens, block_tokens) - 1;
  }
  // The first row that the token at `position` reads.
  int64_t FirstRead(int64_t position) const {
    switch (keeps) {
      case Keeps::kWindow:
        return std::max<int64_t>(0, position - tokens + 1);
      case Keeps::kChunk:
        return position / tokens * tokens;
      case Keeps::kAll:
      case Keeps::kEncoder:
      case Keeps::kState:
        break;
    }
    return 0;
  }
};

}  // namespace kvsim

#endif  // KVSIM_SIM_PAGED_GROUP_H_
