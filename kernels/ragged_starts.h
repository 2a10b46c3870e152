// Which of several lists that stand behind one another holds an item.
#ifndef KVSIM_KERNELS_RAGGED_STARTS_H_
#define KVSIM_KERNELS_RAGGED_STARTS_H_

#include <cstdint>

#include "kernels/host_device.h"

namespace kvsim {

// The last of `count` lists that starts at or before `item`: of lists that are empty the
// one behind them. REQUIRES: count > 0; starts [count] do not fall and starts[0] <= item.
// O(log count).
template <typename Start, typename Count>
KVSIM_HOST_DEVICE Count ListOf(const Start* starts, Count count, int64_t item) {
  Count low = 0;
  Count high = count;  // the answer is in [low, high)
  while (high - low > 1) {
    const Count middle = low + (high - low) / 2;
    if (starts[middle] <= item) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace kvsim

#endif  // KVSIM_KERNELS_RAGGED_STARTS_H_
