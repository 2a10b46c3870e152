// The geometry of one pool that page operations work on.
//
// Model:   device block b of a pool starts at byte b * block_bytes; its row r
//          at r * row_bytes within it; what follows the last row is padding. The
//          host pool has the same geometry and its own block numbers.
//          Cache groups of one engine share its memory: pools of the same `arena`
//          are views of the same blocks, which therefore agree in number and size.
// Units:   bytes and tokens as the names say.

#ifndef KVSIM_KERNELS_POOL_SHAPE_H_
#define KVSIM_KERNELS_POOL_SHAPE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/units.h"

namespace kvsim {

enum class PoolContents : uint8_t {
  kRows,    // block_tokens rows per block, one per token
  kStates,  // one recurrent state per block: block_tokens is 1
};

struct PoolShape {
  std::string name;  // for messages: "full", "window", "state"
  PoolContents contents = PoolContents::kRows;
  int32_t arena = 0;
  int32_t num_blocks = 0;
  int32_t num_host_blocks = 0;  // 0: nothing can be swapped out
  int32_t block_tokens = 1;
  int64_t row_bytes = 0;    // of one row, or of one state
  int64_t block_bytes = 0;  // at least block_tokens * row_bytes

  bool operator==(const PoolShape&) const = default;
};

// OK, or an InvalidArgument naming the pool, the field and its value: counts
// must not be negative, rows must have bytes and fit their block, a state pool
// has one row per block.
absl::Status ValidatePoolShape(const PoolShape& shape);
// The same for each of them, and InvalidArgument for two of one arena whose blocks
// differ.
absl::Status ValidatePoolShapes(std::span<const PoolShape> shapes);

// Bytes of device and host memory that the pools take; an arena counts once.
Bytes MemoryOf(std::span<const PoolShape> shapes);

// Rows and blocks made small enough for all arenas to fit into `limit` bytes: every
// block keeps its number of rows, a row keeps at least 8 bytes and stays a multiple of
// them. Pools that fit stay as they are. InvalidArgument says how much memory the
// smallest rows take.
absl::Status ScalePools(Bytes limit, std::vector<PoolShape>* shapes);

}  // namespace kvsim

#endif  // KVSIM_KERNELS_POOL_SHAPE_H_
