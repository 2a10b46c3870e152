#include <iostream>
#include <string>
#include <vector>

#include "tools/build_info.h"
#include "tools/kvsim.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return kvsim::RunKvsim(arguments, std::cout, std::cerr, kvsim::kBuildCommit);
}
