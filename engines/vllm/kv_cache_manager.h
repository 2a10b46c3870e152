// The block tables of all requests, over all cache groups of a model.
//
// Model:      vLLM's KVCacheManager: one pool of equal blocks, one table per request
//             and group. A request is served the longest prefix that every group has
//             (engines/vllm/prefix_lookup.h); blocks get their keys the moment they
//             are scheduled, so a later request of the same step hits them already.
//             Under context parallelism a block spans block_tokens times the ranks;
//             the arithmetic is the same.
// Order:      a step of a request gives back what its windows left, counts what it
//             needs over all groups, and only then takes: hits of all groups, copies,
//             new blocks. Copies' other halves stay held until EndStep().
// Invariants: (1) "no room" took nothing (but may have given back);
//             (2) the groups' accounts and the pool's sum to the pool's bytes.
// Forks:      a child begins with the parent's blocks, each with one more owner.
//             Before a sequence writes into a block that another one has too, it
//             takes a copy; the last one left writes in place.
// Costs:      Extend O(groups) when nothing changes, else O(blocks taken, dropped or
//             keyed); FindHit O(blocks looked at), O(1) while nothing it depends on
//             changed; Ledger O(groups · requests that hold blocks) with windows or
//             states, O(1) with full attention only.
// Errors:     no room is a Refusal.
// Source:     kv_cache_manager.py allocate_slots (2026-08-17).
#ifndef KVSIM_ENGINES_VLLM_KV_CACHE_MANAGER_H_
#define KVSIM_ENGINES_VLLM_KV_CACHE_MANAGER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "allocator/block_pool.h"
#include "allocator/host_pool.h"
#include "allocator/ledger.h"
#include "base/block_copy.h"
#include "base/block_swap.h"
#include "engines/vllm/block_worth.h"
#include "engines/vllm/cache_group.h"
#include "engines/vllm/group_manager.h"
#include "engines/vllm/key_reporter.h"
#include "engines/vllm/prefix_hit.h"
#include "engines/vllm/prefix_lookup.h"
#include "engines/vllm/request_blocks.h"
#include "engines/vllm/settings.h"

namespace kvsim::vllm {

enum class Refusal : uint8_t {
  kNone,
  kGate,           // the whole prompt does not fit
  kBlocks,         // this step's blocks do not fit
  kStateDeferral,  // hits a state that this very step computes
};

class KvCacheManager {
 public:
  // REQUIRES: settings.Normalized().ok().
  explicit KvCacheManager(const Settings& settings);

  // The longest cached prefix of a request with num_tokens known tokens, at least
  // one of which is left to compute. The result stays inside the manager and is what
  // Admit() uses.
  const PrefixHit& FindHit(const RequestBlocks& request, int64_t num_tokens);

  // Admits a waiting request whose hit FindHit() just returned: checks the gate
  // over all num_tokens and the blocks of this chunk, both against the free
  // blocks less `watermark`; then takes the hit and num_new tokens behind it.
  Refusal Admit(RequestBlocks* request, int64_t num_tokens, int64_t num_new,
                int64_t watermark);
  // Slots for num_new tokens after num_computed of a running request, plus
  // lookahead; num_processed of them are computed, the others in flight.
  Refusal Extend(RequestBlocks* request, int64_t num_tokens,
                 int64_t num_computed, int64_t num_processed, int64_t num_new);
  // A child that holds what the parent has computed (GroupManager::Fork); its id,
  // keys and num_prompt are set. REQUIRES: the parent holds blocks, the child none;
  // nothing of the parent is in flight.
  Refusal Fork(const RequestBlocks& parent, RequestBlocks* child);
  // Keys for the full blocks below num_tokens (asynchronous scheduling learns
  // its tokens late).
  void CacheBlocks(RequestBlocks* request, int64_t num_tokens);
  // The rows of the next n tokens are computed.
  void CompleteRows(RequestBlocks* request, int64_t n);
  // Gives all blocks back. Rows still in flight of keyed blocks count as
  // computed: the device runs batches in order, so they are written before
  // anybody can read them.
  void Free(RequestBlocks* request);

  // Moves what the request has computed to host memory and gives its blocks back;
  // appends what moves. What its windows left goes first. False: host memory has
  // not that much room, and the request still holds its blocks.
  // REQUIRES: nothing of it is in flight.
  bool SwapOut(RequestBlocks* request, std::vector<BlockSwap>* swaps);
  // Brings it back to new blocks, whatever is still cached of the old ones, and
  // takes slots for num_new tokens as Extend() does; all that against the free
  // blocks less `watermark`. Full blocks get their keys again.
  Refusal SwapIn(RequestBlocks* request, int64_t num_tokens,
                 int64_t num_computed, int64_t num_new, int64_t watermark,
                 std::vector<BlockSwap>* swaps);
  // Drops a request that is swapped out.
  void FreeHost(RequestBlocks* request);

  // Null: nobody. Told of keys and admissions; the scheduler tells the rest.
  void SetListener(CacheListener* listener);
  // What the last refusal compared.
  struct Shortage {
    int64_t needed = 0;
    int64_t room = 0;
  };
  const Shortage& last_shortage() const { return shortage_; }

  void StartStep();
  // Ends a step's scheduling: appends the copies it made and lets go of them.
  void EndStep(std::vector<BlockCopy>* copies);

  // Per group: leading blocks of the request that all num_holders requests hold;
  // 0 for groups other than full attention.
  std::vector<int64_t> CommonPrefixBlocks(const RequestBlocks& request,
                                          int64_t num_holders) const;
  LedgerSnapshot Ledger() const;
  // The held and idle blocks of one group. REQUIRES: group < num_groups().
  LedgerSnapshot GroupLedger(size_t group) const;
  // Ever.
  struct ForkCounts {
    int64_t forks = 0;
    int64_t shared_blocks = 0;  // at forks
    int64_t copies = 0;         // at forks and when shared blocks were written
  };
  const ForkCounts& fork_counts() const { return fork_counts_; }
  // Recurrent states that got a key, ever.
  int64_t checkpoints() const;
  const BlockPool& pool() const { return pool_; }
  const HostPool& host() const { return host_; }
  const HitRules& hit_rules() const { return lookup_; }
  const CacheUnits& units() const { return units_; }
  size_t num_groups() const { return groups_.size(); }

 private:
  static constexpr int64_t kNobody = -1;

  int64_t Need(const RequestBlocks& request, const SlotRequest& slots,
               const PrefixHit* hit) const;
  SlotRequest SlotsFor(int64_t computed, int64_t num_new, int64_t hit) const;
  Refusal Refuse(const RequestBlocks& request, int64_t num_tokens, int64_t need,
                 Refusal refusal);
  void TellAdmitted(const RequestBlocks& request, int64_t num_tokens,
                    int64_t need, int64_t room);
  void Take(RequestBlocks* request, const SlotRequest& slots, bool admitted);
  void Forget();
  void AddHolder(RequestBlocks* request);
  void RemoveHolder(RequestBlocks* request);
  void RaiseValues(const RequestBlocks& request);

  const Settings settings_;
  const bool one_full_group_;
  CacheUnits units_;
  const int64_t block_bytes_;
  BlockPool pool_;
  HostPool host_;
  PrefixLookup lookup_;
  std::vector<std::unique_ptr<GroupManager>> groups_;
  std::optional<BlockWorth> worth_;  // when cached blocks go by value

  // The last look-up, and for whom it is still right while the watch holds.
  PrefixHit hit_;
  int64_t remembered_id_ = kNobody;
  int64_t remembered_tokens_ = 0;

  std::vector<BlockCopy> copies_;  // of this step, and of forks before it
  ForkCounts fork_counts_;
  Shortage shortage_;
  KeyReporter reporter_;
  std::vector<RequestBlocks*> holders_;
};

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_KV_CACHE_MANAGER_H_
