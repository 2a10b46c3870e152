// What an endless prefix cache of another block size would hit.
//
// Model:      a cache that keys whole blocks of B tokens, as engines do, and
//             forgets nothing. A row hits the blocks from its start whose keys
//             earlier rows had. The rule "one token is always computed" is left
//             out: this is what the sharing in the trace allows.
// Costs:      O(tokens / B) a row, about 9 bytes per distinct block.
#ifndef KVSIM_TRACES_BLOCK_SIZE_CEILING_H_
#define KVSIM_TRACES_BLOCK_SIZE_CEILING_H_

#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "traces/trace_request.h"

namespace kvsim {

class BlockSizeCeiling {
 public:
  // REQUIRES: block_tokens > 0.
  explicit BlockSizeCeiling(int64_t block_tokens)
      : block_tokens_(block_tokens) {}

  void Add(const TraceRequest& row);

  int64_t block_tokens() const { return block_tokens_; }
  int64_t hit_tokens() const { return hit_tokens_; }
  // Tokens of last blocks that no key covers.
  int64_t tail_tokens() const { return tail_tokens_; }

 private:
  int64_t block_tokens_;
  int64_t hit_tokens_ = 0;
  int64_t tail_tokens_ = 0;
  absl::flat_hash_set<uint64_t> keys_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_BLOCK_SIZE_CEILING_H_
