// How an engine cuts a rank's KV memory into blocks, before the first request.
//
// Model:   layers are put into cache groups; every group has its own block
// table,
//          all draw blocks of one size from one pool. A block owned by a group
//          holds one page for each of the group's cache tensors; what the pages
//          leave of the block is slot padding. Some blocks are reserved for
//          good (vLLM: the null block); they are counted in num_blocks.
// Beside:  some engines keep windows, states or drafts in pools of their own.
//          The figures of a plan are those of its main pool; a group's `pool`
//          says where it draws from.
// Ranks:   every pipeline stage sizes its own pool; all run with the smallest
//          number of blocks. Tensor ranks of a stage are alike.
// Units:   bytes on one rank, tokens of one sequence.
// Ownership: plain values; refers to nothing.

#ifndef KVSIM_ENGINES_POOL_PLAN_H_
#define KVSIM_ENGINES_POOL_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "engines/block_demand.h"

namespace kvsim {

struct CacheGroup {
  std::string kind;             // the engine's word: "full_attention", "mamba"
  std::vector<int32_t> layers;  // model layers, ascending; drafts come last
  int64_t num_tensors = 0;      // cache tensors: a layer may have several
  BlockDemand demand;
  // One block, on the rank that binds:
  Bytes page;          // the largest page among the tensors
  Bytes used;          // rows and states
  Bytes page_padding;  // in the pages, beside rows and states
  Bytes slot_padding;  // in the block, beside the pages
  Bytes log_charge;    // see PoolPlan::log_block
  size_t pool = 0;     // 0: the main pool; else 1 + index into side_pools
};

// A pool beside the main one, with blocks of its own.
struct SidePool {
  std::string name;  // the engine's word: "swa", "state"
  Blocks num_blocks;
  Blocks reserved_blocks;
  Bytes bytes_per_block;
};

// Layers of one kind do not divide into groups of equal size.
struct LayerPadding {
  int64_t layers = 0;        // that are missing in the last group
  double waste_percent = 0;  // in per cent of the layers of the kind
};

struct RankPool {
  int64_t stage = 0;
  int64_t num_layers = 0;
  Bytes kv_memory;
  Bytes bytes_per_block;
  Blocks own_blocks;  // that would fit here, were it not for other stages
  Bytes remainder;    // kv_memory that the pool leaves unused
};

// A start that the engine refuses: one request of the maximum length does not
// fit. `max_len_that_fits` is 0 when nothing does.
struct StartRefusal {
  Bytes needed;
  Bytes available;
  Tokens max_len_that_fits;
  std::string message;  // the engine's own words
};

struct PoolPlan {
  std::string rule;  // how the groups came about, in a few words
  std::vector<CacheGroup> groups;
  std::vector<RankPool> ranks;  // one for each pipeline stage
  size_t binding_rank = 0;      // index into ranks
  std::vector<SidePool> side_pools;

  Blocks num_blocks;
  Blocks reserved_blocks{1};
  Bytes bytes_per_block;          // on the rank that binds
  Bytes page;                     // largest page of a tensor
  Tokens block_tokens;            // of the attention groups, on one rank
  Tokens scheduler_block_tokens;  // prefix hits are multiples of this

  Tokens max_model_len;
  Tokens in_flight;         // scheduled and not yet computed, at most
  Tokens decode_in_flight;  // the same in steady decode

  Blocks blocks_per_request;  // at max_model_len, as the engine's log counts
  // Some versions log blocks by bytes: the groups' blocks times log_charge, over
  // log_block. 0: they count the blocks that a request takes.
  Bytes log_block;
  double max_concurrency = 0;
  Tokens kv_cache_tokens;  // as the engine prints it
  Blocks host_blocks;      // swap space on the host, where the engine has one
  // Groups whose last block table has fewer layers than the others.
  std::vector<LayerPadding> layer_padding;
  // Bytes that a state's page has beyond the state, in per cent of it; 0 where
  // nothing was padded.
  double state_padding_percent = 0;
  std::vector<std::string> log_lines;
  std::vector<std::string> notes;  // assumptions, switches that decided
  std::optional<StartRefusal> refused;

  size_t NumPools() const { return 1 + side_pools.size(); }
  // Blocks of a pool that requests can hold, and what one of them takes.
  Blocks UsableBlocks(size_t pool = 0) const;
  Bytes BlockBytes(size_t pool) const;
};

// Whether a group of vLLM's holds recurrent states, not rows; any of a plan's.
bool HoldsStates(const CacheGroup& group);
bool HoldsStates(const PoolPlan& plan);

// Gives `group` a pool of its own with `blocks` blocks of one page each, named
// after its kind: the main pool when the plan has none yet, else one beside it.
void AddPool(CacheGroup group, Blocks blocks, Blocks reserved, PoolPlan& plan);

// The engine's worst case of one request of `length` tokens, all groups of one
// pool.
Blocks WorstCaseBlocks(const PoolPlan& plan, Tokens length, size_t pool = 0);
// The same as the engine's log counts it: what its concurrency is made of.
Blocks LoggedBlocks(const PoolPlan& plan, Tokens length);
// What a request of `length` tokens holds in steady decode, all groups of one
// pool.
Blocks SteadyBlocks(const PoolPlan& plan, Tokens length, size_t pool = 0);

}  // namespace kvsim

#endif  // KVSIM_ENGINES_POOL_PLAN_H_
