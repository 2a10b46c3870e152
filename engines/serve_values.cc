#include "engines/serve_values.h"

#include <cmath>

#include "absl/strings/numbers.h"

namespace kvsim {

absl::StatusOr<int64_t> ParseServeInteger(absl::string_view text) {
  constexpr int64_t kMost = int64_t{1} << 50;
  int64_t value = 0;
  if (absl::SimpleAtoi(text, &value) && value <= kMost && value >= -kMost) {
    return value;
  }
  return absl::InvalidArgumentError("expected an integer");
}

absl::StatusOr<double> ParseServeNumber(absl::string_view text) {
  double value = 0;
  if (absl::SimpleAtod(text, &value) && std::isfinite(value)) return value;
  return absl::InvalidArgumentError("expected a number");
}

absl::StatusOr<std::string> ParseServeText(absl::string_view text) {
  return std::string(text);
}

}  // namespace kvsim
