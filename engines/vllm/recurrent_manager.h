// The states of all requests in one group of recurrent layers.
//
// Model:      without caching a request holds one running state. In align mode the
//             table has an entry per block of tokens, null except where a state is
//             kept: the running one at the end (drafts' states behind it), the one
//             before it until the copy is done, and states that carry keys and are
//             somebody's hit. A chunk takes one new state whatever its length; the
//             scheduler cuts chunks so that states stand on block boundaries. In
//             all mode every block of tokens keeps a state.
//             A state that was keyed in this very step is not computed yet: a
//             request that hits it must wait a step.
//             With fine hits the state at the prompt's last unit gets a partial
//             key; going on inside that block copies it first, and the copy keeps
//             the key.
// Forks:      the states of finished blocks are read only and shared; all from the
//             block of the next token on (the running one, drafts') are written in
//             place, and the child gets copies at once.
// Source:     single_type_kv_cache_manager.py MambaManager (2026-08-17).
#ifndef KVSIM_ENGINES_VLLM_RECURRENT_MANAGER_H_
#define KVSIM_ENGINES_VLLM_RECURRENT_MANAGER_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "engines/vllm/group_manager.h"

namespace kvsim::vllm {

class RecurrentManager final : public GroupManager {
 public:
  RecurrentManager(const Settings& settings, const CacheUnits& units,
                   size_t index, BlockPool* pool);

  int64_t Need(const RequestBlocks& request, const SlotRequest& slots,
               const GroupHit* hit) const override;
  bool CopyOnWrite(RequestBlocks* request, int64_t computed, bool admitted,
                   BlockCopy* copy) override;
  void Take(RequestBlocks* request, const SlotRequest& slots) override;
  void DropSkipped(RequestBlocks* request, int64_t processed) override;
  void CacheBlocks(RequestBlocks* request, int64_t num_tokens,
                   int64_t known) override;
  int64_t ForkNeed(const RequestBlocks& parent) const override;
  int64_t Fork(const RequestBlocks& parent, RequestBlocks* child,
               std::vector<BlockCopy>* copies) override;
  void StartStep() override { keyed_this_step_.clear(); }
  int64_t checkpoints() const override { return checkpoints_; }
  void AddAccounts(const std::vector<RequestBlocks*>& requests,
                   LedgerSnapshot* ledger) const override;

 protected:
  int64_t SkippedTokens(int64_t computed) const override;
  int64_t BlocksFor(const SlotRequest& slots) const override;
  void NoteKeyed(BlockKey key) override {
    keyed_this_step_.insert(key);
    ++checkpoints_;
  }

 private:
  bool align() const { return group_.state_mode == StateMode::kAlign; }
  // Going on after `computed` tokens would change a state that others may hit.
  bool WritesKeyedState(const RequestBlocks& request, int64_t computed) const;
  void TakeAligned(GroupBlocks* blocks, int64_t required);
  void ReleaseEntry(RequestBlocks* request, size_t entry);

  const int64_t num_drafts_;
  const bool guards_same_step_;
  const bool frees_every_old_state_;
  const bool keeps_prompt_end_;
  int64_t checkpoints_ = 0;
  // Membership only; its order is never read.
  absl::flat_hash_set<BlockKey> keyed_this_step_;
};

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_RECURRENT_MANAGER_H_
