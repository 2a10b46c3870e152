// The block tables of all requests in one full-attention cache group.
//
// Model:      vLLM's KVCacheManager with one group of full attention (MHA, GQA,
//             MLA, MLA with index keys): a request holds ceil(tokens / block)
//             blocks; every full block gets its chain key the moment it is
//             scheduled, so a later request of the same step hits it already.
//             Under decode-context parallelism a block spans block_size·dcp
//             tokens; the arithmetic is the same.
// Invariants: (1) a table has at most ceil(slots_end / block) blocks more than
//             what rejected drafts left behind, and never fewer;
//             (2) keys are assigned to a prefix of the table;
//             (3) held rows = live + in flight + tail slack, all ≥ 0.
// Costs:      Allocate O(new blocks) and O(1) when the table has room; FindHit
//             O(hit blocks), O(1) while nothing it depends on changed.
// Errors:     no room is a Refusal; nothing was taken then.
// Source:     kv_cache_manager.py allocate_slots, single_type_kv_cache_manager.py
//             FullAttentionManager (2026-08-17).
#ifndef KVSIM_ENGINES_VLLM_KV_CACHE_MANAGER_H_
#define KVSIM_ENGINES_VLLM_KV_CACHE_MANAGER_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "allocator/block_pool.h"
#include "allocator/ledger.h"
#include "base/key_chain.h"
#include "engines/vllm/settings.h"

namespace kvsim::vllm {

// What one request holds. Owned by the scheduler, changed by the manager only.
struct RequestBlocks {
  int64_t id = 0;              // names the request; never reused
  KeyChain* keys = nullptr;    // chain at the group's block size
  std::vector<BlockId> table;  // position-indexed
  int64_t num_keyed = 0;       // leading blocks that carry their key
  int64_t slots_end = 0;       // tokens that slots were asked for
  int64_t rows_done = 0;       // leading tokens whose rows are computed
};

// Leading blocks of a request that are cached now. Valid until the next call
// that changes the pool.
struct PrefixHit {
  std::vector<BlockId> blocks;
  int64_t unheld = 0;  // of which nobody holds: touching them costs free blocks
};

enum class Refusal : uint8_t { kNone, kGate, kBlocks };

class KvCacheManager {
 public:
  explicit KvCacheManager(const Settings& settings);

  // The longest cached prefix of a request with num_tokens known tokens: whole
  // blocks, at least one token is left to compute. The result stays inside the
  // manager and is what AdmitAndAllocate() uses.
  const PrefixHit& FindHit(const RequestBlocks& request, int64_t num_tokens);

  // Admits a waiting request whose hit FindHit() just returned: checks the gate
  // over all num_tokens and the blocks of this chunk, both against the free
  // blocks less `watermark`; then takes the hit and num_new tokens behind it.
  Refusal Admit(RequestBlocks* request, int64_t num_tokens, int64_t num_new,
                int64_t watermark);
  // Slots for num_new tokens after num_computed of a running request, plus
  // lookahead. kBlocks when they do not fit.
  Refusal Extend(RequestBlocks* request, int64_t num_tokens,
                 int64_t num_computed, int64_t num_new);
  // Keys for the full blocks below num_tokens (asynchronous scheduling learns
  // its tokens late).
  void CacheBlocks(RequestBlocks* request, int64_t num_tokens);
  // The rows of the next n tokens are computed.
  void CompleteRows(RequestBlocks* request, int64_t n);
  // Gives all blocks back. Rows still in flight of keyed blocks count as
  // computed: the device runs batches in order, so they are written before
  // anybody can read them.
  void Free(RequestBlocks* request);

  int64_t CommonPrefixBlocks(const RequestBlocks& request,
                             int64_t num_holders) const;
  LedgerSnapshot Ledger() const;
  const BlockPool& pool() const { return pool_; }
  int64_t block_size() const { return block_size_; }

 private:
  static constexpr int64_t kNobody = -1;

  int64_t BlocksFor(int64_t tokens) const {
    return (tokens + block_size_ - 1) / block_size_;
  }
  void TakeSlots(RequestBlocks* request, int64_t slots_end);
  void Remember(const RequestBlocks& request, int64_t num_tokens);
  void Forget();

  const int64_t block_size_;
  const int64_t max_model_len_;
  const int64_t lookahead_;
  const bool drops_last_hit_;
  const bool reserve_full_sequence_;
  const bool remember_refusal_;
  const BlockGeometry geometry_;
  const int64_t block_bytes_;
  BlockPool pool_;

  // The last look-up, and for whom it is still right while the watch holds.
  PrefixHit hit_;
  int64_t run_ = 0;  // matched blocks before the last one was dropped
  BlockId dropped_ = kNullBlock;
  int64_t remembered_id_ = kNobody;
  int64_t remembered_tokens_ = 0;

  int64_t tail_slack_rows_ = 0;
};

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_KV_CACHE_MANAGER_H_
