#include "kernels/null_paging_backend.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "kernels/page_op_check.h"

namespace kvsim {

NullPagingBackend::NullPagingBackend(std::vector<PoolShape> pools)
    : pools_(std::move(pools)), totals_() {
  for (const PoolShape& pool : pools_) {
    const absl::Status status = ValidatePoolShape(pool);
    KVSIM_CHECK(status.ok()) << status.ToString();
  }
}

absl::Status NullPagingBackend::Execute(std::span<const PageOp> ops) {
  for (size_t i = 0; i < ops.size(); ++i) {
    const absl::Status status = CheckPageOp(ops[i], pools_);
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat("op ", i, ": ", status.message()));
    }
    totals_[static_cast<size_t>(KindOf(ops[i]))] += TrafficOf(ops[i], pools_);
  }
  return absl::OkStatus();
}

}  // namespace kvsim
