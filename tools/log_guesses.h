// Settings that logs do not print: what could explain a figure that differs.

#ifndef KVSIM_TOOLS_LOG_GUESSES_H_
#define KVSIM_TOOLS_LOG_GUESSES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kvsim {

// One setting: words of the serve command, or a rule.
struct LogGuess {
  absl::string_view engine;
  std::vector<std::string> words;
  std::string rule;  // an --engine-switch
};

// In the order they are tried.
std::vector<LogGuess> LogGuesses();

}  // namespace kvsim

#endif  // KVSIM_TOOLS_LOG_GUESSES_H_
