// How far a model is from what was measured, in two numbers.
#ifndef KVSIM_SIM_RELATIVE_ERROR_H_
#define KVSIM_SIM_RELATIVE_ERROR_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace kvsim {

// Errors |model / measured - 1| that half, and nine in ten, do not exceed.
struct RelativeError {
  double median = 0;
  double p90 = 0;

  // REQUIRES: !errors.empty().
  static RelativeError Of(std::vector<double> errors) {
    std::sort(errors.begin(), errors.end());
    const auto at = [&](double share) {
      const auto rank =
          static_cast<size_t>(share * static_cast<double>(errors.size()));
      return errors[std::min(rank, errors.size() - 1)];
    };
    return {at(0.5), at(0.9)};
  }
};

}  // namespace kvsim

#endif  // KVSIM_SIM_RELATIVE_ERROR_H_
