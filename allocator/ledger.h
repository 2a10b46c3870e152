// Where every byte of one rank's KV pool is, at the end of a step.
//
// Model:      P = remainder + S·(null + free + idle + held), where P is the bytes
//             given to the pool and S the bytes of a block. The bytes of held
//             blocks are split further: padding, then rows of attention blocks by
//             what they carry, then recurrent-state blocks by their role.
// Invariants: (1) the accounts sum to P exactly, in integers;
//             (2) no account is negative;
//             (3) a block with k owners counts once, in the strongest state that
//                 any owner gives it (live before window slack).
//             "Of which" figures are views of bytes already counted; they are
//             never added to the sum.
// Units:      bytes of one rank.
// Costs:      a snapshot is a few dozen integers; building one is O(accounts).
#ifndef KVSIM_ALLOCATOR_LEDGER_H_
#define KVSIM_ALLOCATOR_LEDGER_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace kvsim {

enum class Account : uint8_t {
  kRemainder,         // pool bytes that do not make a whole block
  kNull,              // block 0 and blocks reserved for good
  kFree,              // nobody holds it, no prefix key: plain free
  kIdle,              // nobody holds it, still hittable: reclaimable cache
  kSlotPadding,       // held: block bytes that no layer of the group uses
  kPagePadding,       // held: page bytes beyond rows (alignment, state pages)
  kLive,              // held rows: computed and visible to an owner
  kWindowSlack,       // held rows: computed, outside every owner's window
  kInFlight,          // held rows: scheduled or lookahead, not computed yet
  kTailSlack,         // held rows: beyond what any owner asked for
  kStateCurrent,      // held states: the one the next step reads
  kStatePrevious,     // held states: kept one step for the copy
  kStateSpeculative,  // held states: slots of drafted tokens
  kStateCheckpoint,   // held states: kept for prefix hits
};
inline constexpr size_t kNumAccounts = 14;

enum class OfWhich : uint8_t {
  kDuplicates,       // blocks whose key an earlier block already carries
  kSharedRows,       // rows held by two owners or more
  kSharingSaved,     // Σ(k−1) bytes that sharing saves
  kIdleCheckpoints,  // recurrent states among the idle blocks
  kIdlePadding,      // padding inside idle blocks
};
inline constexpr size_t kNumOfWhich = 5;

// "live", "tail_slack", …: the names used in reports and JSON.
const char* AccountName(Account account);
const char* OfWhichName(OfWhich figure);

struct LedgerSnapshot {
  std::array<int64_t, kNumAccounts> bytes{};
  std::array<int64_t, kNumOfWhich> of_which{};
  int64_t pool_bytes = 0;

  int64_t& operator[](Account a) { return bytes[static_cast<size_t>(a)]; }
  int64_t operator[](Account a) const { return bytes[static_cast<size_t>(a)]; }
  int64_t& operator[](OfWhich f) { return of_which[static_cast<size_t>(f)]; }
  int64_t operator[](OfWhich f) const {
    return of_which[static_cast<size_t>(f)];
  }

  // Sum of all accounts; equals pool_bytes when the ledger is sound.
  int64_t Sum() const;
  // Invariants (1) and (2).
  bool Balanced() const;

  friend bool operator==(const LedgerSnapshot&,
                         const LedgerSnapshot&) = default;
};

}  // namespace kvsim

#endif  // KVSIM_ALLOCATOR_LEDGER_H_
