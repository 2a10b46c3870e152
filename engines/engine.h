// One inference engine's scheduler and cache, seen from outside.
//
// Model:      Add() queues a request; Schedule() makes one batch (which requests
//             run how many tokens, who is admitted, who is preempted) and takes
//             the blocks it needs; Complete() tells the engine what that batch
//             produced. Asynchronous scheduling is the driver's doing: it calls
//             Schedule() again before Complete() of an earlier plan. Plans must
//             be completed in the order in which they were made.
// Forks:      Fork() makes one more sequence of what a request has computed, Drop()
//             ends one early: parallel samples, beams, agents that branch. Blocks
//             are shared until a sequence writes into one that others have too;
//             then it gets a copy first (StepPlan::copies).
// Units:      tokens and blocks unless the name says otherwise.
// Ownership:  keeps RequestParams::keys, which must outlive the request (until it
//             is reported finished or aborted). Plans are the caller's.
// Threads:    one per simulation.
// Errors:     "no room" is a plain result (the request waits); misuse is a check
//             failure. A length that can never be served is Admission::kTooLong.
// Determinism: no clock, no hash-map order: equal calls give equal results.
#ifndef KVSIM_ENGINES_ENGINE_H_
#define KVSIM_ENGINES_ENGINE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "allocator/ledger.h"
#include "base/block_copy.h"
#include "base/block_id.h"
#include "base/block_swap.h"
#include "base/key_chain.h"

namespace kvsim {

// The caller's number of a request: its row in the trace. Dense from 0.
using RequestId = int32_t;

struct RequestParams {
  RequestId id = 0;
  int64_t num_prompt_tokens = 0;
  int64_t max_tokens = 1;  // the request stops after this many outputs
  int64_t priority = 0;    // smaller is served first (priority policy)
  int64_t arrival_ns = 0;  // breaks ties of priority
  KeyChain* keys = nullptr;
};

struct ScheduledRequest {
  RequestId id = 0;
  int64_t first_token = 0;  // position of the first token of this chunk
  int32_t num_tokens = 0;   // tokens run in this step, drafts included
  int32_t num_drafts = 0;   // of which speculated
  int64_t num_outputs = 0;  // outputs recorded when the step was scheduled
  bool samples = false;     // false: a prefill chunk that is not the last
  uint32_t residency = 0;   // preemptions the request had seen by then
};

struct AdmittedRequest {
  RequestId id = 0;
  int64_t hit_tokens = 0;  // served from the prefix cache
};

// A request whose rows move between the device and host memory.
struct SwappedRequest {
  RequestId id = 0;
  int64_t num_tokens = 0;         // computed tokens, which stay computed
  std::vector<BlockSwap> blocks;  // by group, then by position
};

// Why the head of the waiting queue was not admitted in a step.
enum class AdmissionLimit : uint8_t {
  kNoneWaiting,    // nothing waits
  kMaxSequences,   // max_num_seqs are running
  kTokenBudget,    // max_num_batched_tokens is used up
  kPreemption,     // a preemption in this step closes admission
  kGate,           // the whole prompt does not fit (full-sequence reserve)
  kBlocks,         // this step's blocks do not fit
  kStateDeferral,  // a recurrent state cached in this very step
  kAsyncDrain,     // outputs of a preempted request are still in flight
};
inline constexpr int kNumAdmissionLimits = 8;
// "none_waiting", "max_sequences", …
const char* AdmissionLimitName(AdmissionLimit limit);

// Before the batch runs blocks move in this order: swapped out, swapped in, copies.
struct StepPlan {
  int64_t total_tokens = 0;
  std::vector<ScheduledRequest> scheduled;  // running first, then admitted
  std::vector<AdmittedRequest> admitted;    // first admissions
  std::vector<AdmittedRequest> resumed;     // admissions after a preemption
  std::vector<RequestId> preempted;         // in order of preemption
  std::vector<SwappedRequest> swapped_out;  // of the preempted, by swap
  std::vector<SwappedRequest> swapped_in;   // run again; not in `resumed`
  std::vector<BlockCopy> copies;            // copy on write, before the batch
  AdmissionLimit limit = AdmissionLimit::kNoneWaiting;

  void Clear();
};

// Counters since construction and levels of this moment.
struct EngineCounts {
  int64_t running = 0;
  int64_t waiting = 0;        // includes requests set aside for one step
  int64_t free_blocks = 0;    // free or idle: what the engine calls free
  int64_t cached_keys = 0;    // distinct prefix keys that can be hit
  int64_t allocations = 0;    // blocks popped from the free queue, ever
  int64_t evictions = 0;      // blocks that lost their keys at re-use, ever
  int64_t evicted_keys = 0;   // keys dropped by those, ever
  int64_t checkpoints = 0;    // recurrent states kept for later hits, ever
  int64_t host_blocks = 0;    // held in host memory by requests that wait
  int64_t forks = 0;          // sequences that began running as one, ever
  int64_t forked_blocks = 0;  // … blocks they began with as one more owner
  int64_t fork_copies = 0;    // … blocks copied at forks and at later writes
};

// The whole allocator state, for recorders and tests.
struct AllocatorState {
  std::vector<BlockId> free_queue;  // front first
  std::vector<int32_t> ref_counts;  // by block id; the null block as 0
  std::vector<int32_t> keyed;       // 1: carries a prefix key
  struct Tables {
    RequestId id = 0;
    std::vector<std::vector<BlockId>> groups;
  };
  std::vector<Tables> running;  // in scheduling order
};

class CacheListener;  // engines/cache_listener.h
class HitRules;

class Engine {
 public:
  enum class Admission : uint8_t { kQueued, kTooLong };
  enum class Forked : uint8_t { kRuns, kWaits };

  virtual ~Engine() = default;

  // kTooLong: num_prompt_tokens >= the engine's maximum length; not queued.
  virtual Admission Add(const RequestParams& request) = 0;
  // True while a request waits or runs.
  virtual bool HasUnfinished() const = 0;
  // Makes one batch. REQUIRES: HasUnfinished(). Overwrites *plan.
  virtual void Schedule(StepPlan* plan) = 0;
  // num_sampled[i] tokens came out of plan.scheduled[i] (0 for a chunk that does
  // not sample). Appends requests that finished, in scheduling order; their
  // blocks are free when this returns.
  virtual void Complete(const StepPlan& plan,
                        std::span<const int32_t> num_sampled,
                        std::vector<RequestId>* finished) = 0;
  // One more sequence that goes on from where `parent` is: the same prompt and as
  // many outputs, the last of them its own (the other token that the same logits
  // gave). kRuns: it runs behind all others and shares every block that the parent
  // has computed; what is written in place (recurrent states) is copied with the
  // next step. kWaits: the parent does not run or still computes its prompt,
  // max_num_seqs run, or a copy does not fit; then it is the last of the queue,
  // keeps its outputs as a preempted request does and computes prompt and outputs
  // again where no prefix serves them.
  // REQUIRES: nothing of the parent is in flight; child.id names nothing in the
  // engine or in flight; its prompt is as long, and its keys are the parent's in all
  // tokens but the last output; child.max_tokens, outputs so far included, is
  // greater than their number. An engine that cannot fork fails a check.
  // Source: Kwon et al. 2023 (PagedAttention), 4.4.
  virtual Forked Fork(RequestId parent, const RequestParams& child);
  // Ends a request that waits or runs; its blocks are free when this returns, and
  // what is in flight of it is ignored. REQUIRES: it is in the engine.
  virtual void Drop(RequestId id);
  // Who is served next of those that wait. REQUIRES: something waits.
  virtual RequestId WaitingHead() const = 0;
  // Drops the head of the waiting queue; returns its id. Used when it can never
  // fit. REQUIRES: something waits.
  virtual RequestId AbortHead() = 0;

  virtual EngineCounts Counts() const = 0;
  // O(accounts), from incremental counts.
  virtual LedgerSnapshot Ledger() const = 0;
  // The part of it in the held and idle blocks of one cache group; pool_bytes is
  // theirs. With remainder, null and free blocks the groups sum to Ledger();
  // duplicates are known of the whole only. O(requests that hold blocks).
  // REQUIRES: 0 <= group < NumGroups(); an engine of several groups overrides it.
  virtual LedgerSnapshot GroupLedger(int group) const;
  // Outputs recorded so far; 0 for an unknown or finished request.
  virtual int64_t NumOutputs(RequestId id) const = 0;

  // --- inspection: recorders and tests -----------------------------------------
  virtual int NumGroups() const = 0;
  // The block table of a request in one group; empty when it holds none.
  virtual std::span<const BlockId> BlockTable(RequestId id,
                                              int group) const = 0;
  // Per group: leading blocks of the first running request that every request
  // with a table holds (full attention with caching on; else 0).
  virtual std::vector<int64_t> CommonPrefixBlocks() const = 0;
  // Hears why things happen from now on; null: nobody. Changes no decision. Kept;
  // must outlive its use. An engine without a prefix cache has nothing to tell.
  virtual void SetCacheListener(CacheListener*) {}
  // Null: no prefix is ever hit.
  virtual const HitRules* hit_rules() const { return nullptr; }
  // O(blocks + tables).
  virtual AllocatorState Inspect() const = 0;
  // Empty when every invariant holds, else the first that does not. O(blocks).
  virtual std::string CheckInvariants() const = 0;
};

}  // namespace kvsim

#endif  // KVSIM_ENGINES_ENGINE_H_
