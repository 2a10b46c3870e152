// The backend that only counts: the default, for runs that want decisions.
//
// Model:  holds no pool memory; a few hundred bytes whatever the pools' size.
//         Checks that every op stays inside its pools, ignores stamps.
// Costs:  O(indices in the op), no allocation beyond the check's.

#ifndef KVSIM_KERNELS_NULL_PAGING_BACKEND_H_
#define KVSIM_KERNELS_NULL_PAGING_BACKEND_H_

#include <span>
#include <vector>

#include "absl/status/status.h"
#include "kernels/paging_backend.h"

namespace kvsim {

class NullPagingBackend final : public PagingBackend {
 public:
  // REQUIRES: ValidatePoolShape accepts each pool.
  explicit NullPagingBackend(std::vector<PoolShape> pools);

  const char* name() const override { return "null"; }
  std::span<const PoolShape> pools() const override { return pools_; }
  absl::Status Execute(std::span<const PageOp> ops) override;
  const TrafficByKind& Totals() const override { return totals_; }

 private:
  std::vector<PoolShape> pools_;
  TrafficByKind totals_;
};

}  // namespace kvsim

#endif  // KVSIM_KERNELS_NULL_PAGING_BACKEND_H_
