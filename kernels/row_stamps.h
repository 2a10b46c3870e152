// Rows made from their stamps, and rows compared with them.
//
// Model:      a row of a stamp is its 8-byte little-endian words: the stamp itself,
//             then Mix(stamp, index); the last word is cut to the row's end. So a row
//             that is read names what it is in its first word, and every byte of it
//             is one that no other row has there but by chance.
// Shapes:     rows [num_rows][row_bytes], stamps [num_rows]; fault: one number, the
//             first row that differs, num_rows when none does. The caller sets it to
//             num_rows before.
// Costs:      writes or reads the rows once.
// Errors:     BadArgument naming the argument.
#ifndef KVSIM_KERNELS_ROW_STAMPS_H_
#define KVSIM_KERNELS_ROW_STAMPS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/host_device.h"
#include "kernels/launch.h"

namespace kvsim {

struct StampedRow {
  uint64_t stamp;

  KVSIM_HOST_DEVICE uint64_t Word(int64_t index) const {
    if (index == 0) return stamp;
    uint64_t x = stamp + static_cast<uint64_t>(index) * 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    return x ^ (x >> 27);
  }
};

struct FillRowsArgs {
  std::byte* rows = nullptr;
  int64_t row_bytes = 0;
  const uint64_t* stamps = nullptr;
  int64_t num_rows = 0;

  KVSIM_HOST_DEVICE int64_t WordsPerRow() const { return (row_bytes + 7) / 8; }

  KVSIM_HOST_DEVICE void FillWord(int64_t row, int64_t index) const {
    const uint64_t word = StampedRow{stamps[row]}.Word(index);
    std::byte* to = rows + row * row_bytes + index * 8;
    const int64_t left = row_bytes - index * 8;
    if (left >= 8 && reinterpret_cast<uintptr_t>(to) % 8 == 0) {
      memcpy(__builtin_assume_aligned(to, 8), &word, 8);
      return;
    }
    for (int i = 0; i < 8 && i < left; ++i) {
      to[i] = static_cast<std::byte>(word >> (8 * i));
    }
  }
};

struct CheckRowsArgs {
  const std::byte* rows = nullptr;
  int64_t row_bytes = 0;
  const uint64_t* stamps = nullptr;
  int64_t num_rows = 0;
  unsigned long long* fault = nullptr;  // as CUDA's atomics spell it

  KVSIM_HOST_DEVICE int64_t WordsPerRow() const { return (row_bytes + 7) / 8; }

  KVSIM_HOST_DEVICE bool WordIsRight(int64_t row, int64_t index) const {
    const uint64_t word = StampedRow{stamps[row]}.Word(index);
    const std::byte* from = rows + row * row_bytes + index * 8;
    const int64_t left = row_bytes - index * 8;
    if (left >= 8 && reinterpret_cast<uintptr_t>(from) % 8 == 0) {
      uint64_t found;
      memcpy(&found, __builtin_assume_aligned(from, 8), 8);
      return found == word;
    }
    bool right = true;
    for (int i = 0; i < 8 && i < left; ++i) {
      right &= from[i] == static_cast<std::byte>(word >> (8 * i));
    }
    return right;
  }
};

// What both check.
LaunchStatus CheckFillRows(const FillRowsArgs& args);
LaunchStatus CheckCheckRows(const CheckRowsArgs& args);

LaunchStatus FillRowsOnHost(const FillRowsArgs& args);
LaunchStatus LaunchFillRows(const FillRowsArgs& args, DeviceStream stream);

LaunchStatus CheckRowsOnHost(const CheckRowsArgs& args);
LaunchStatus LaunchCheckRows(const CheckRowsArgs& args, DeviceStream stream);

}  // namespace kvsim

#endif  // KVSIM_KERNELS_ROW_STAMPS_H_
