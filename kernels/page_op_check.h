// Whether a page operation stays inside its pools.
//
// Every backend asks this before it touches memory, so that an allocator's bug
// is the same error on all of them, and so that kernels need no bounds checks.

#ifndef KVSIM_KERNELS_PAGE_OP_CHECK_H_
#define KVSIM_KERNELS_PAGE_OP_CHECK_H_

#include <span>

#include "absl/status/status.h"
#include "base/page_op.h"
#include "kernels/pool_shape.h"

namespace kvsim {

// OK, or an error naming the kind of op, the pool, the field, the value found
// and the range it must lie in:
//   InvalidArgument  no such pool; rows in a pool of states or the reverse;
//                    stamps that do not match the rows; positions out of order;
//                    a target, a source, or a slot named twice
//   OutOfRange       a block, slot or row outside the pool, a position outside
//                    the block table
// Costs: O(indices in the op), plus a sort of those that must be distinct.
absl::Status CheckPageOp(const PageOp& op, std::span<const PoolShape> pools);

}  // namespace kvsim

#endif  // KVSIM_KERNELS_PAGE_OP_CHECK_H_
