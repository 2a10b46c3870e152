// For tests: runs a kvsim command in this process and keeps what it printed.
#ifndef KVSIM_TOOLS_COMMAND_OUTCOME_H_
#define KVSIM_TOOLS_COMMAND_OUTCOME_H_

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tools/kvsim.h"

namespace kvsim {

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

inline Outcome Kvsim(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = RunKvsim(arguments, out, err);
  return {code, out.str(), err.str()};
}

// kvsim COMMAND ARGUMENTS
inline Outcome Kvsim(const std::string& command,
                     std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), command);
  return Kvsim(arguments);
}

// A file of the test's own, with this content; its path.
inline std::string WriteTestFile(const std::string& name,
                                 const std::string& content) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

}  // namespace kvsim

#endif  // KVSIM_TOOLS_COMMAND_OUTCOME_H_
