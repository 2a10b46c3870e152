// What a request must achieve to count as served well.
#ifndef KVSIM_SIM_SLO_H_
#define KVSIM_SIM_SLO_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kvsim {

// A missing limit is always met. Limits are inclusive.
struct Slo {
  std::optional<int64_t> ttft_ns;  // arrival to first token
  std::optional<int64_t> tpot_ns;  // mean time per output token after the first
  std::optional<int64_t> e2e_ns;   // arrival to last token

  bool Any() const { return ttft_ns || tpot_ns || e2e_ns; }
  bool Met(int64_t ttft, int64_t tpot, int64_t e2e) const {
    return ttft <= ttft_ns.value_or(ttft) && tpot <= tpot_ns.value_or(tpot) &&
           e2e <= e2e_ns.value_or(e2e);
  }

  friend bool operator==(const Slo&, const Slo&) = default;
};

// Reads "ttft=2s,tpot=50ms,e2e=1min"; each part once, at least one.
absl::StatusOr<Slo> ParseSlo(absl::string_view text);

}  // namespace kvsim

#endif  // KVSIM_SIM_SLO_H_
