#include "engines/serve_values.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

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

std::string UnmodelledWarning(absl::string_view setting) {
  return absl::StrCat(setting, " may change the caches; it is not modelled");
}

void WarnOfUnmodelled(const ServeCommand& command,
                      std::vector<std::string>* warnings) {
  for (const std::string& flag : command.OfEffect(FlagEffect::kUnmodelled)) {
    warnings->push_back(UnmodelledWarning(flag));
  }
}

}  // namespace kvsim
