// The block tables of all requests in one cache group.
//
// Model:      a table is position-indexed; entries whose tokens nobody needs any
//             more are null. What the rule of the group decides (full attention,
//             window, chunk, cross attention here; recurrent states in
//             recurrent_manager.h):
//             how many tokens at the front are skipped, how many blocks a length
//             takes, which blocks get keys.
// Invariants: (1) every block of a table is held once for it;
//             (2) keys are settled for a prefix of the table;
//             (3) tail_slack_rows = Σ over tables (blocks·block_tokens − slots),
//                 once for tables that end in the same block;
//             (4) after a fork, the owners of a block that is not full asked for
//                 the same rows of it.
// Costs:      O(blocks taken, dropped or keyed); O(1) when nothing changes.
// Errors:     none; the caller asks Need() before it takes.
// Source:     single_type_kv_cache_manager.py (2026-08-17).
#ifndef KVSIM_ENGINES_VLLM_GROUP_MANAGER_H_
#define KVSIM_ENGINES_VLLM_GROUP_MANAGER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "allocator/block_pool.h"
#include "allocator/host_pool.h"
#include "allocator/ledger.h"
#include "base/block_copy.h"
#include "base/block_id.h"
#include "base/block_swap.h"
#include "engines/vllm/block_worth.h"
#include "engines/vllm/cache_group.h"
#include "engines/vllm/prefix_hit.h"
#include "engines/vllm/request_blocks.h"
#include "engines/vllm/retention.h"
#include "engines/vllm/settings.h"

namespace kvsim::vllm {

// What a call wants slots for.
struct SlotRequest {
  int64_t main_end = 0;       // tokens of the model itself
  int64_t slots_end = 0;      // … and slots of drafts behind them
  int64_t computed = 0;       // tokens computed before
  int64_t hit = 0;            // of which come from the cache (admission only)
  bool whole_prompt = false;  // the admission gate asks, not a step
};

class GroupManager {
 public:
  // Kept: settings, units and pool, which outlive the manager.
  static std::unique_ptr<GroupManager> Create(const Settings& settings,
                                              const CacheUnits& units,
                                              size_t index, BlockPool* pool);
  virtual ~GroupManager() = default;

  static constexpr int64_t kNotThisStep = int64_t{1} << 48;

  // --- a request's life -----------------------------------------------------------
  // Blocks that would leave the free queue; kNotThisStep or more when the request
  // must not be admitted now whatever is free (the engine answers with one block
  // more than the pool has). `hit` is null for a request that
  // runs.
  virtual int64_t Need(const RequestBlocks& request, const SlotRequest& slots,
                       const GroupHit* hit) const;
  // Holds the blocks of a hit.
  void TakeHit(RequestBlocks* request, const GroupHit& hit, int64_t hit_tokens);
  // Copies the block that this step would write into although others may hit it.
  // True when there was one; then both blocks have one owner more than tables say.
  virtual bool CopyOnWrite(RequestBlocks* request, int64_t computed,
                           bool admitted, BlockCopy* copy);
  // Copies the block that this step would write into although a fork has it too.
  // Otherwise the same.
  bool CopyShared(RequestBlocks* request, int64_t computed, BlockCopy* copy);
  // Slots behind what the table has.
  virtual void Take(RequestBlocks* request, const SlotRequest& slots);
  // Gives back what nobody needs once `processed` tokens are computed.
  virtual void DropSkipped(RequestBlocks* request, int64_t processed);
  // Keys for the full blocks below `num_tokens`, a multiple of the scheduler's
  // unit, and with a draft model for one more; partial keys see `known` tokens.
  virtual void CacheBlocks(RequestBlocks* request, int64_t num_tokens,
                           int64_t known);
  virtual void Free(RequestBlocks* request);
  virtual void StartStep() {}
  // The step's copies are let go.
  void EndStep() {
    held_for_copies_.clear();
    copied_from_.clear();
  }
  // From now on blocks that are given back get their scores.
  void ValueBlocksBy(const BlockWorth* worth) { worth_ = worth; }
  // Scores of all blocks of a request that is about to give them back.
  void RaiseValues(const RequestBlocks& request,
                   const std::vector<BlockWorth::Segment>& segments);

  // --- forks ----------------------------------------------------------------------
  // Blocks that Fork() takes.
  virtual int64_t ForkNeed(const RequestBlocks&) const { return 0; }
  // Makes the child's table of the parent's: blocks with computed rows are shared,
  // slots behind them are not. Appends copies of what is written in place; both
  // their blocks have one owner more than tables say. Returns the blocks shared.
  // REQUIRES: nothing of the parent is in flight; the child holds nothing.
  virtual int64_t Fork(const RequestBlocks& parent, RequestBlocks* child,
                       std::vector<BlockCopy>* copies);

  // --- host memory ----------------------------------------------------------------
  // Blocks with computed rows or states: those that would move.
  int64_t NumToSwap(const RequestBlocks& request) const;
  // Frees the table; what NumToSwap() counts is in host memory then.
  // REQUIRES: nothing in flight; host has NumToSwap() free blocks.
  void SwapOut(RequestBlocks* request, HostPool* host,
               std::vector<BlockSwap>* swaps);
  int64_t NumInHost(const RequestBlocks& request) const;
  // Takes NumInHost() blocks for them; their keys are unsettled, as of new ones.
  void SwapIn(RequestBlocks* request, HostPool* host,
              std::vector<BlockSwap>* swaps);
  // Drops what is in host memory.
  void FreeHost(RequestBlocks* request, HostPool* host);

  // The rows of tokens [begin, end) are computed.
  void CompleteRows(RequestBlocks* request, int64_t begin, int64_t end);

  // --- the ledger -------------------------------------------------------------------
  // The bytes of this group's held and idle blocks.
  virtual void AddAccounts(const std::vector<RequestBlocks*>& requests,
                           LedgerSnapshot* ledger) const;

  // States that got a key, ever.
  virtual int64_t checkpoints() const { return 0; }
  const CacheGroup& group() const { return group_; }
  size_t index() const { return index_; }

 protected:
  GroupManager(const Settings& settings, const CacheUnits& units, size_t index,
               BlockPool* pool);

  // Leading tokens that the next token does not need.
  virtual int64_t SkippedTokens(int64_t computed) const;
  // Blocks that hold this many tokens.
  virtual int64_t BlocksFor(const SlotRequest& slots) const;

  GroupBlocks& Of(RequestBlocks* request) const {
    return request->groups[index_];
  }
  const GroupBlocks& Of(const RequestBlocks& request) const {
    return request.groups[index_];
  }
  BlockKey KeyAt(const RequestBlocks& request, int64_t tokens) const;
  void KeyFullBlocks(RequestBlocks* request, int64_t num_tokens);
  virtual void NoteKeyed(BlockKey) {}
  // The score of one block that goes while its request runs on.
  void RaiseValue(const RequestBlocks& request, size_t entry);
  void AddCommonAccounts(LedgerSnapshot* ledger) const;
  // What a table's entry gets by a copy of this step.
  void NoteCopy(const BlockCopy& copy);

  const CacheGroup group_;
  const CacheUnits units_;
  const size_t index_;
  const bool keeps_every_key_;
  // With a draft model a hit looks one block beyond its end, which is cached with
  // the scheduler's last unit.
  const bool keys_margin_;
  const bool keys_partial_blocks_;
  Retention retention_;
  int64_t max_admission_blocks_;  // of a window or chunk at the gate
  BlockPool& pool_;
  const BlockWorth* worth_ = nullptr;  // when cached blocks go by value
  int64_t tail_slack_rows_ = 0;
  bool forked_ = false;  // ever

 private:
  // Tokens that get slots, and the rows of a table's blocks behind them.
  int64_t SlotsEnd(const SlotRequest& slots) const;
  // Tables that have the block.
  int64_t Owners(BlockId id) const;
  // Where the contents of a table's block are now.
  BlockId WrittenIn(BlockId id) const;
  bool WritesShared(const RequestBlocks& request, int64_t computed) const;
  void CopyEntry(GroupBlocks* blocks, int64_t computed, BlockCopy* copy);
  int64_t TailSlack(const GroupBlocks& blocks) const;
  int64_t WindowSlack(const std::vector<RequestBlocks*>& requests) const;
  // Leading table entries that can hold something computed.
  size_t ComputedEntries(const RequestBlocks& request) const;

  // Of this step's copies: owners beyond the tables, and sources by target. Never
  // iterated.
  absl::flat_hash_map<BlockId, int64_t> held_for_copies_;
  absl::flat_hash_map<BlockId, BlockId> copied_from_;
};

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_GROUP_MANAGER_H_
