// The prefix keys of one request, as the allocator sees them.
//
// Model:      a request's tokens are cut into blocks of one fixed size. Key i
//             stands for all tokens of blocks 0..i: two requests have equal
//             keys i exactly when their first (i + 1) blocks hold the same
//             tokens (up to 64-bit collisions). Keys are well mixed; any bits
//             may index a table. Tokens that are not generated yet have keys
//             too: what a token *is* depends on its position, not on when it is
//             computed. Chains of different block sizes share no key by design.
// Costs:      Prefix is amortised O(new blocks); memory 8 bytes per block asked.
// Ownership:  the caller owns the chain; a returned span dies with the next call
//             that asks for more blocks than any call before.
// Threads:    one per simulation.
#ifndef KVSIM_BASE_KEY_CHAIN_H_
#define KVSIM_BASE_KEY_CHAIN_H_

#include <cstdint>
#include <span>

namespace kvsim {

class KeyChain {
 public:
  virtual ~KeyChain() = default;

  // The keys of the first num_blocks full blocks, each computed once and kept.
  // The caller decides how many blocks are full: (tokens known) / (block size).
  // REQUIRES: num_blocks >= 0.
  virtual std::span<const uint64_t> Prefix(int64_t num_blocks) = 0;
};

}  // namespace kvsim

#endif  // KVSIM_BASE_KEY_CHAIN_H_
