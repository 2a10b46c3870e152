// How many bytes a page operation moves.
//
// Model: traffic is what a backend must read from and write to pools, which is
//        what its measured bandwidth is divided by. One definition serves the
//        counting backend and the real ones:
//
//   kind             items              bytes read          bytes written
//   assign_blocks    blocks             0                   4 * items: the table
//   release_blocks   blocks             0                   0
//   write_tokens     rows stored        0                   items * row
//   gather_sequence  rows read          items * row         0
//   copy_block       rows copied        items * row         items * row
//   move_blocks      blocks that move   items * block       items * block
//   swap_blocks      blocks             items * block       items * block
//   update_state     1                  row; 0 at first     row
//   save_state       1                  row                 row
//   restore_state    1                  row                 row
//   hash_prefix      keys               4 per hashed token  8 * items
//
//        A token without a slot, a copy of a block onto itself and a move to
//        the same place move nothing.

#ifndef KVSIM_KERNELS_PAGE_OP_TRAFFIC_H_
#define KVSIM_KERNELS_PAGE_OP_TRAFFIC_H_

#include <array>
#include <cstdint>
#include <span>

#include "base/page_op.h"
#include "base/units.h"
#include "kernels/pool_shape.h"

namespace kvsim {

struct Traffic {
  int64_t ops = 0;
  int64_t items = 0;
  Bytes read;
  Bytes written;

  Traffic& operator+=(const Traffic& other);
  bool operator==(const Traffic&) const = default;
};

// Indexed by PageOpKind.
using TrafficByKind = std::array<Traffic, kNumPageOpKinds>;

// REQUIRES: CheckPageOp(op, pools) is OK. Costs: O(indices in the op).
Traffic TrafficOf(const PageOp& op, std::span<const PoolShape> pools);

}  // namespace kvsim

#endif  // KVSIM_KERNELS_PAGE_OP_TRAFFIC_H_
