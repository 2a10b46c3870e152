// How full the engine and its pool were, and what kept the queue waiting.
//
// Model:      a step's duration counts for what was true in it: the running
//             requests right after scheduling, the reason why the head of the
//             queue was not admitted, and the ledger at its end. The time
//             between two steps, when nothing is unfinished, counts with 0
//             running, as "idle", and with the ledger of the last step. The run
//             lasts from the start of the first step to the end of the last.
//             The peak of the ledger is the first step end with the most bytes
//             held.
// Groups:     with several cache groups each has a ledger of its own, of the same
//             moments.
// Units:      nanoseconds, bytes; byte × time sums have 128 bits.
// Costs:      O(accounts · groups) a step, and the ledgers' own.
#ifndef KVSIM_SIM_POOL_METRICS_H_
#define KVSIM_SIM_POOL_METRICS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "allocator/ledger.h"
#include "sim/step_observer.h"

namespace kvsim {

// A ledger over time: its state at the whole pool's peak, and time-averaged.
struct LedgerPair {
  LedgerSnapshot peak;
  LedgerSnapshot mean;
};

struct PoolSummary {
  int64_t steps = 0;
  int64_t empty_steps = 0;  // that scheduled no token
  int64_t start_ns = 0;     // of the first step
  int64_t end_ns = 0;       // of the last
  int64_t idle_ns = 0;      // between steps
  int64_t peak_running = 0;
  int64_t peak_running_ns = 0;  // start of the first step that reached it
  int64_t peak_waiting = 0;
  double mean_running = 0;  // time-weighted, as the next
  double mean_waiting = 0;
  std::array<int64_t, kNumAdmissionLimits> limit_ns{};
  std::array<int64_t, kNumAdmissionLimits> limit_steps{};

  int64_t allocations = 0;
  int64_t evictions = 0;
  int64_t evicted_keys = 0;
  int64_t min_free_blocks = 0;  // right after scheduling
  int64_t cached_keys = 0;      // at the end
  int64_t checkpoints = 0;      // recurrent states kept for hits, ever
  int64_t checkpoint_peak = 0;  // bytes of them at once, at a step's end

  int64_t forks = 0;          // sequences that began running as one
  int64_t forks_waited = 0;   // … that had to wait
  int64_t dropped = 0;        // beams that lost
  int64_t forked_blocks = 0;  // shared at forks
  int64_t fork_copies = 0;    // blocks copied at forks and at later writes
  int64_t shared_peak = 0;    // bytes at the end of a step, as the next
  int64_t saved_peak = 0;

  LedgerSnapshot ledger_peak;
  int64_t ledger_peak_ns = 0;       // when
  int64_t ledger_peak_running = 0;  // how many ran at the end of that step
  // Time-averaged, each account rounded to the nearest byte; pool_bytes is the
  // pool, so the accounts may miss it by a few bytes of rounding.
  LedgerSnapshot ledger_mean;
  // Of every cache group, when there are several.
  std::vector<LedgerPair> groups;

  int64_t DurationNs() const { return end_ns - start_ns; }
};

// Σ bytes · time of one ledger.
class LedgerSum {
 public:
  void Add(const LedgerSnapshot& ledger, int64_t duration_ns);
  // The mean over duration_ns, each figure to the nearest byte.
  LedgerSnapshot Mean(int64_t duration_ns) const;

 private:
  std::array<__int128, kNumAccounts> byte_ns_{};
  std::array<__int128, kNumOfWhich> of_which_ns_{};
};

class PoolMetrics final : public StepObserver {
 public:
  void OnStep(const StepRecord& record, const Engine& engine) override;

  // Of what has happened so far; may be called at any time.
  PoolSummary Summary() const;

 private:
  void NoteLevels(const StepRecord& record);
  void NoteLedger(const StepRecord& record, const Engine& engine);
  void AddLedger(int64_t duration_ns);

  PoolSummary totals_;
  __int128 running_ns_ = 0;
  __int128 waiting_ns_ = 0;
  // The pool first, then its groups when there are several.
  std::vector<LedgerSnapshot> last_;  // at the end of the last step
  std::vector<LedgerSnapshot> at_peak_;
  std::vector<LedgerSum> sums_;
  int64_t held_peak_ = -1;
};

// Bytes of states that are kept for hits, held or idle.
int64_t CheckpointBytes(const LedgerSnapshot& ledger);

// Bytes of the pool that requests hold: neither null, free, idle nor remainder.
int64_t HeldBytes(const LedgerSnapshot& ledger);

}  // namespace kvsim

#endif  // KVSIM_SIM_POOL_METRICS_H_
