// The way from one rank's device memory to its host memory and back.
//
// Model:      whole blocks, bytes / bandwidth; a step's copies out and in follow
//             each other and nothing overlaps with the batch.
// Units:      bytes of one rank, bytes per second in each direction, nanoseconds.
// Costs:      O(requests that are swapped).
#ifndef KVSIM_SIM_HOST_LINK_H_
#define KVSIM_SIM_HOST_LINK_H_

#include <cstdint>
#include <vector>

#include "engines/engine.h"

namespace kvsim {

struct HostLink {
  int64_t block_bytes = 0;
  int64_t bytes_per_second = 0;  // 0: copies take no time

  // Rounded up. REQUIRES: less than 2^63 ns.
  int64_t TransferNs(int64_t bytes) const {
    if (bytes_per_second == 0) return 0;
    const __int128 scaled = __int128{bytes} * 1'000'000'000;
    return static_cast<int64_t>((scaled + bytes_per_second - 1) /
                                bytes_per_second);
  }
  int64_t BytesOf(const std::vector<SwappedRequest>& swaps) const {
    int64_t blocks = 0;
    for (const SwappedRequest& swap : swaps) {
      blocks += static_cast<int64_t>(swap.blocks.size());
    }
    return blocks * block_bytes;
  }
  int64_t StepNs(const StepPlan& plan) const {
    return TransferNs(BytesOf(plan.swapped_out)) +
           TransferNs(BytesOf(plan.swapped_in));
  }
};

}  // namespace kvsim

#endif  // KVSIM_SIM_HOST_LINK_H_
