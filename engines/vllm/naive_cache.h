// The block tables of vLLM's scheduler told plainly: the naive twin of
// KvCacheManager and of all that lies below it.
//
// Model:      per request and group a table of blocks by position, null where
//             nothing is kept; what a group keeps is asked of NaiveRules again
//             and again. Every level and the whole ledger are recounted when
//             asked for.
// Costs:      whatever they are.
// Source:     the rules of vLLM (2026-08-17) as told beside its recorded runs;
//             not the code it is compared with.
#ifndef KVSIM_ENGINES_VLLM_NAIVE_CACHE_H_
#define KVSIM_ENGINES_VLLM_NAIVE_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "allocator/ledger.h"
#include "base/block_copy.h"
#include "base/block_id.h"
#include "base/block_swap.h"
#include "engines/vllm/naive_lookup.h"
#include "engines/vllm/naive_pool.h"
#include "engines/vllm/naive_rules.h"
#include "engines/vllm/settings.h"

namespace kvsim::vllm {

// What a test can ask the twin to get wrong, to see whether it is found out.
enum class NaiveMistake {
  kNone,
  kDropsOneTooMany,     // one block more than a window leaves behind
  kKeyStaysWithSource,  // a running state goes on in the block that has the key
  kCopyIsNotHeld,       // what was copied is given back at once
  kLastOfEqualsOnly,    // of groups that are looked up together
  kGuardsBlocks,        // a state of an equal key in an older block is hit
  kLosesSwappedTail,    // a block that is not full does not reach host memory
  kWritesSharedTail,    // forks write into one block
  kForksShareStates,    // … and go on in one running state
  kLastOwnerCopies,     // a block that others had copied is copied once more
};

class NaiveCache {
 public:
  using Ids = NaivePool::Ids;
  using Tokens = NaivePool::Tokens;

  struct Table {
    Ids ids;
    int64_t slots_end = 0;  // tokens that slots were asked for
    int64_t settled = 0;    // leading blocks whose keys are decided
    bool partial_settled = false;
    // Recurrent groups in align mode.
    bool started = false;        // took a running state of its own
    std::vector<int64_t> older;  // places of states before the running one
  };
  struct Holder {
    Tokens tokens;  // prompt and all outputs it may give
    int64_t num_prompt = 0;
    int64_t junction = 0;
    int64_t num_written = 0;    // leading tokens whose rows are computed
    std::vector<Table> tables;  // by group; none while it holds nothing

    // While it is swapped out: the tables, with blocks of host memory in them.
    std::vector<Table> hosted;

    bool holds() const { return !tables.empty(); }
  };
  enum class Answer { kFits, kGate, kBlocks, kStateDeferral };

  explicit NaiveCache(const Settings& settings,
                      NaiveMistake mistake = NaiveMistake::kNone);

  // --- a step -------------------------------------------------------------------
  void StartStep();
  // Ends its scheduling: what was copied, and copies, are held until now.
  void EndStep(std::vector<BlockCopy>* copies);

  // What serves a prefix of the first `known` tokens.
  NaiveHit Hit(const Holder& holder, int64_t known) const;
  // Takes the hit and slots for num_new tokens behind it if `room` blocks are
  // enough for them, and for all `known` tokens where the gate asks.
  Answer Admit(Holder* holder, const NaiveHit& hit, int64_t known,
               int64_t num_new, int64_t room);
  // Slots for num_new tokens behind `computed`; of those `processed` have results.
  Answer Extend(Holder* holder, int64_t known, int64_t computed,
                int64_t processed, int64_t num_new);
  // What is full within the first `known` tokens can be hit from now on.
  void Key(Holder* holder, int64_t known);
  void Write(Holder* holder, int64_t num_tokens);
  // The child holds what the parent has written; it has tokens and nothing else.
  // False: no room for the states that it needs for itself.
  bool Fork(const Holder& parent, Holder* child);
  void Free(Holder* holder);

  // --- host memory --------------------------------------------------------------
  // Nothing: not enough of it is free.
  std::optional<std::vector<BlockSwap>> SwapOut(Holder* holder);
  // With slots as of Extend(). Nothing: more than `room` blocks would be needed.
  std::optional<std::vector<BlockSwap>> SwapIn(Holder* holder, int64_t known,
                                               int64_t computed,
                                               int64_t num_new, int64_t room);
  void FreeHost(Holder* holder);
  int64_t NumInHost() const {
    return settings_.host_blocks - static_cast<int64_t>(host_.size());
  }

  // --- levels -------------------------------------------------------------------
  struct ForkCounts {
    int64_t forks = 0, shared_blocks = 0, copies = 0;
  };
  const ForkCounts& fork_counts() const { return fork_counts_; }
  const NaivePool& pool() const { return pool_; }
  int64_t checkpoints() const { return checkpoints_; }
  LedgerSnapshot Recount(const std::vector<const Holder*>& holders) const;
  // The blocks of `group` alone; their bytes are the pool of the answer.
  LedgerSnapshot RecountGroup(size_t group,
                              const std::vector<const Holder*>& holders) const;

 private:
  struct Asked {
    int64_t main_end = 0;   // tokens of the model itself
    int64_t slots_end = 0;  // … and of drafts behind them
    int64_t computed = 0;
    bool gate = false;
  };

  const CacheGroup& Group(size_t g) const { return settings_.groups[g]; }
  size_t num_groups() const { return settings_.groups.size(); }
  int64_t BlocksFor(size_t g, const Asked& asked) const;
  int64_t Cap(size_t g) const;
  Asked AskFor(int64_t computed, int64_t num_new) const;
  // Blocks that leave the free queue; nothing: not in this step.
  std::optional<int64_t> Need(const Holder& holder, const Asked& asked,
                              const NaiveHit* hit) const;
  std::optional<int64_t> NeedOf(size_t g, const Holder& holder,
                                const Asked& asked, const NaiveHit* hit) const;
  int64_t NeedStates(size_t g, const Holder& holder, const Asked& asked,
                     const NaiveHit* hit) const;
  bool IsKeyedNow(size_t g, const Holder& holder, const NaiveHit& hit) const;
  bool ContinuesKeyedState(size_t g, const Holder& holder,
                           int64_t computed) const;

  // Whether another holder has the block too.
  bool IsOthersToo(BlockId id) const;
  // Places of blocks that writing from `computed` on would change for others.
  std::vector<size_t> SharedPlaces(size_t g, const Holder& holder,
                                   int64_t computed) const;
  // Those of states that a fork of the holder cannot share.
  std::vector<size_t> OwnStates(size_t g, const Holder& holder) const;
  void CopyShared(size_t g, Holder* holder, int64_t computed);
  BlockId WrittenIn(BlockId id) const;
  void ForkTable(size_t g, const Holder& parent, Holder* child);
  void TakeHit(Holder* holder, const NaiveHit& hit);
  void CopyHitPart(size_t g, Holder* holder, int64_t hit_tokens);
  void CopyRunningState(size_t g, Holder* holder, int64_t computed);
  void TakeNew(size_t g, Holder* holder, const Asked& asked);
  void TakeStates(size_t g, Table* table, const Asked& asked);
  void DropSkipped(size_t g, Holder* holder, int64_t processed);
  void DropOlderStates(size_t g, Holder* holder, int64_t running);
  // By value: the score of what ends at `end`, without and with what lies deeper.
  void RaiseOne(const Holder& holder, int64_t end, BlockId id);
  void RaiseAll(const Holder& holder);
  void KeyBlocks(size_t g, Holder* holder, int64_t known);
  void KeyPart(size_t g, Holder* holder, int64_t known);
  void WriteEncoded(Holder* holder);
  Table HostTable(size_t g, const Holder& holder) const;
  void WriteKeyed(size_t g, Holder* holder, int64_t num_blocks);
  void AddKey(size_t g, const Holder& holder, int64_t end, BlockId id);

  void CountGroup(size_t g, const std::vector<const Holder*>& holders,
                  LedgerSnapshot* ledger) const;
  void CountRows(BlockId id, const std::vector<const Holder*>& holders,
                 LedgerSnapshot* ledger) const;
  void CountState(BlockId id, const std::vector<const Holder*>& holders,
                  LedgerSnapshot* ledger) const;
  Account RoleOf(size_t g, const Holder& holder, int64_t place) const;

  const Settings settings_;
  const NaiveMistake mistake_;
  const NaiveRules rules_;
  NaivePool pool_;
  std::set<BlockId> host_;                    // free blocks of host memory
  std::set<NaivePool::Key> keyed_this_step_;  // of states
  std::set<BlockId> blocks_keyed_this_step_;
  std::vector<BlockCopy> copies_;  // of this step, and of forks before it
  ForkCounts fork_counts_;
  int64_t scheduled_tokens_ = 0;  // ever
  int64_t checkpoints_ = 0;       // states that got a key, ever
};

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_NAIVE_CACHE_H_
