#include "kernels/row_stamps.h"

namespace kvsim {
namespace {

LaunchStatus CheckShape(int64_t row_bytes, int64_t num_rows) {
  if (row_bytes < 1)
    return LaunchStatus::BadArgument("row_bytes must be positive");
  if (num_rows < 0) return LaunchStatus::BadArgument("num_rows is negative");
  return LaunchStatus::Ok();
}

}  // namespace

LaunchStatus CheckFillRows(const FillRowsArgs& args) {
  return CheckShape(args.row_bytes, args.num_rows);
}

LaunchStatus CheckCheckRows(const CheckRowsArgs& args) {
  return CheckShape(args.row_bytes, args.num_rows);
}

LaunchStatus FillRowsOnHost(const FillRowsArgs& args) {
  const LaunchStatus status = CheckFillRows(args);
  if (!status.ok()) return status;
  const int64_t words = args.WordsPerRow();
  for (int64_t row = 0; row < args.num_rows; ++row) {
    for (int64_t i = 0; i < words; ++i) args.FillWord(row, i);
  }
  return LaunchStatus::Ok();
}

LaunchStatus CheckRowsOnHost(const CheckRowsArgs& args) {
  const LaunchStatus status = CheckCheckRows(args);
  if (!status.ok()) return status;
  const int64_t words = args.WordsPerRow();
  for (int64_t row = 0; row < args.num_rows; ++row) {
    bool right = true;
    for (int64_t i = 0; i < words; ++i) right &= args.WordIsRight(row, i);
    if (right) continue;
    *args.fault = static_cast<unsigned long long>(row);
    break;
  }
  return LaunchStatus::Ok();
}

}  // namespace kvsim
