#include "allocator/ledger.h"

#include <algorithm>
#include <numeric>

namespace kvsim {

const char* AccountName(Account account) {
  static constexpr std::array<const char*, kNumAccounts> kNames = {
      "remainder",
      "null",
      "free",
      "idle",
      "slot_padding",
      "page_padding",
      "live",
      "window_slack",
      "in_flight",
      "tail_slack",
      "state_current",
      "state_previous",
      "state_speculative",
      "state_checkpoint"};
  return kNames[static_cast<size_t>(account)];
}

const char* OfWhichName(OfWhich figure) {
  static constexpr std::array<const char*, kNumOfWhich> kNames = {
      "duplicates", "shared_rows", "sharing_saved", "idle_checkpoints",
      "idle_padding"};
  return kNames[static_cast<size_t>(figure)];
}

int64_t LedgerSnapshot::Sum() const {
  return std::accumulate(bytes.begin(), bytes.end(), int64_t{0});
}

bool LedgerSnapshot::Balanced() const {
  return Sum() == pool_bytes && std::all_of(bytes.begin(), bytes.end(),
                                            [](int64_t b) { return b >= 0; });
}

}  // namespace kvsim
