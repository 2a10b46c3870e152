// Comparing a computed figure with one that an article prints.

#ifndef KVSIM_MODELS_PRINTED_FIGURE_H_
#define KVSIM_MODELS_PRINTED_FIGURE_H_

#include <gtest/gtest.h>

#include <string>

namespace kvsim {

// True when `value` would be printed as `text`: it lies within half a unit of
// the text's last digit. "8.58" accepts [8.575, 8.585], "219" [218.5, 219.5].
::testing::AssertionResult PrintsAs(double value, const std::string& text);

}  // namespace kvsim

#endif  // KVSIM_MODELS_PRINTED_FIGURE_H_
