// The chain keys of one request for one block size.
//
// Model:      block i covers tokens [iB, (i + 1)B). Its key mixes the key
// before
//             it with the run-length list of identities that the block covers.
//             With one run in the block (B divides the hash block) that is one
//             mix. For a given block content the mix is a bijection of the key
//             before it, so different prefixes never meet again.
// Costs:      Prefix: O(runs) time for new blocks; 8 bytes per block asked for.
// Ownership:  keeps a pointer to `tokens`, which must outlive it.
#ifndef KVSIM_TRACES_REQUEST_KEYS_H_
#define KVSIM_TRACES_REQUEST_KEYS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/key_chain.h"
#include "traces/request_tokens.h"

namespace kvsim {

class RequestKeys final : public KeyChain {
 public:
  // REQUIRES: block_tokens > 0.
  RequestKeys(const RequestTokens* tokens, int64_t block_tokens);

  // Of a sequence whose tokens before `begin` are those of `parent`'s; takes over
  // the keys of the blocks before it.
  RequestKeys(const RequestTokens* tokens, const RequestKeys& parent,
              int64_t begin);

  std::span<const uint64_t> Prefix(int64_t num_blocks) override;

  int64_t block_tokens() const { return block_tokens_; }

 private:
  // Tokens [start, start + length) of one source, inside one block.
  struct Run {
    uint64_t source;
    int64_t start;
    int64_t length;
  };

  void Extend(int64_t num_blocks);
  void AddBlocksOfSegment(int64_t num_blocks);
  void AddRequestBlocks(uint64_t source, int64_t end_block);
  void AddIdBlocks(int64_t end_block);
  void AddBlockOfRuns();
  Run RunAt(const RequestTokens::Segment& segment, int64_t position,
            int64_t end) const;
  uint64_t IdSource(uint64_t id) const;

  const RequestTokens* tokens_;
  int64_t block_tokens_;
  uint64_t scope_hash_;
  uint64_t last_key_;   // keys_.back(), or the chain's start
  size_t segment_ = 0;  // the segment of the first token not yet mixed
  std::vector<uint64_t> keys_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_REQUEST_KEYS_H_
