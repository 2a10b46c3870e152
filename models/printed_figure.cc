#include "models/printed_figure.h"

#include <cmath>
#include <cstdlib>

namespace kvsim {

::testing::AssertionResult PrintsAs(double value, const std::string& text) {
  const size_t point = text.find('.');
  const size_t decimals =
      point == std::string::npos ? 0 : text.size() - point - 1;
  const double half_unit = 0.5 * std::pow(10.0, -static_cast<double>(decimals));
  const double printed = std::strtod(text.c_str(), nullptr);
  // The figures are binary fractions such as 83.875; the text is not.
  constexpr double kTextError = 1e-9;
  if (std::abs(value - printed) <= half_unit + kTextError) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure()
         << value << " is not printed as " << text;
}

}  // namespace kvsim
