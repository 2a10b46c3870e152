// The cache of vLLM's scheduler told plainly: the naive twin of KvCacheManager
// and of all that lies below it.
//
// Model:      a block is a struct with its owners counted, its rows marked one by
//             one, and, once it is full and scheduled, the tokens of the whole
//             prefix that it ends: prefixes are compared token by token, nothing
//             is hashed. The free queue is a std::list. Every level and the whole
//             ledger are recounted when asked for.
// Costs:      whatever they are.
// Source:     the rules of vLLM (2026-08-17) as told beside its recorded
//             runs; not the code it is compared with.
#ifndef KVSIM_ENGINES_VLLM_NAIVE_CACHE_H_
#define KVSIM_ENGINES_VLLM_NAIVE_CACHE_H_

#include <cstdint>
#include <list>
#include <utility>
#include <vector>

#include "allocator/ledger.h"
#include "base/block_id.h"
#include "engines/vllm/settings.h"

namespace kvsim::vllm {

class NaiveCache {
 public:
  using Ids = std::vector<BlockId>;
  using Tokens = std::vector<int64_t>;

  struct Holder {
    Tokens tokens;  // prompt and all outputs it may give
    Ids table;
    int64_t slots_end = 0;    // tokens that have a slot
    int64_t num_written = 0;  // leading tokens whose rows are computed
  };

  explicit NaiveCache(const Settings& settings);

  // The blocks that serve a prefix of the first `known` tokens.
  Ids Hit(const Holder& holder, int64_t known) const;
  // Blocks that leave the free queue when `tokens` tokens behind and including
  // the hit get slots.
  int64_t Need(const Ids& hit, int64_t tokens) const;
  // Takes the hit and slots for the first `tokens` tokens. REQUIRES: they fit.
  void Take(Holder* holder, const Ids& hit, int64_t tokens);
  // Full blocks of the first `known` tokens can be hit from now on.
  void Key(const Holder& holder, int64_t known);
  void Write(Holder* holder, int64_t num_tokens);
  void Free(Holder* holder);

  int64_t NumFree() const { return static_cast<int64_t>(queue_.size()); }
  int64_t NumDistinctKeys() const;
  bool Keyed(BlockId id) const;
  int64_t Owners(BlockId id) const { return blocks_[id].owners; }
  Ids FreeQueue() const { return {queue_.begin(), queue_.end()}; }
  int64_t allocations() const { return allocations_; }
  int64_t evictions() const { return evictions_; }

  LedgerSnapshot Recount(const std::vector<const Holder*>& holders) const;

 private:
  struct Block {
    int64_t owners = 0;
    std::vector<bool> written;
  };

  int64_t BlocksFor(int64_t tokens) const;
  BlockId Pop();
  BlockId Find(const Tokens& prefix) const;
  void CountHeld(BlockId id, const std::vector<bool>& asked,
                 LedgerSnapshot* ledger) const;

  const Settings settings_;
  std::vector<Block> blocks_;
  std::list<BlockId> queue_;
  // Prefix and the block that ends it, in the order in which they were keyed.
  std::list<std::pair<Tokens, BlockId>> keys_;
  int64_t allocations_ = 0, evictions_ = 0;
};

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_NAIVE_CACHE_H_
