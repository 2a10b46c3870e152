// A machine that carries out page operations.
//
// Model:      a backend owns the memory of its pools, shaped as it was told at
//             construction, all blocks empty, and executes ops in order. What
//             it does with an op is its own affair: `null` counts, `host` and
//             `cuda` move real bytes. Counts are the same for all.
// Stamps:     a backend that holds memory makes each row's bytes from the stamp
//             it was written with, and compares every byte when the row is read
//             with a stamp. So two owners of one block, a stale block table or
//             a lost copy shows as a data error at the first wrong read, with
//             the place. Reading a row that was never written is such an error.
//             Padding is neither written nor checked by rows; whole-block ops
//             copy it.
// Invariants: (1) Totals()[k].ops is the number of executed ops of kind k.
//             (2) Totals() is the sum of TrafficOf over the executed ops.
// Units:      bytes, rows and blocks of one rank.
// Costs:      as the backend says; at least O(indices in the op).
// Ownership:  keeps no pointer to its arguments.
// Threads:    one per backend.
// Errors:     an op that CheckPageOp refuses is that error and is not executed;
//             a wrong stamp is DataLoss naming pool, block, row, the position
//             and sequence that were read, and both stamps; a device that fails
//             is Unavailable. The message starts with "op N: ", N counted from
//             the start of the span. Ops before it are executed and counted,
//             it and those after it are not.

#ifndef KVSIM_KERNELS_PAGING_BACKEND_H_
#define KVSIM_KERNELS_PAGING_BACKEND_H_

#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/page_op.h"
#include "kernels/page_op_traffic.h"
#include "kernels/pool_shape.h"

namespace kvsim {

class PagingBackend {
 public:
  virtual ~PagingBackend() = default;

  // "null", "host", "cuda": as --backend and reports name it.
  virtual const char* name() const = 0;

  // As given at construction.
  virtual std::span<const PoolShape> pools() const = 0;

  // Executes `ops` in order and returns when all of them have taken effect, or
  // at the first error.
  virtual absl::Status Execute(std::span<const PageOp> ops) = 0;

  // Since construction, indexed by PageOpKind.
  virtual const TrafficByKind& Totals() const = 0;
};

}  // namespace kvsim

#endif  // KVSIM_KERNELS_PAGING_BACKEND_H_
