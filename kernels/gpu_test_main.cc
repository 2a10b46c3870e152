#include <gtest/gtest.h>

#include <string>

#include "kernels/gpu_test.h"

namespace kvsim {

bool require_gpu = false;

}  // namespace kvsim

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (argv[i] == std::string("--require_gpu")) kvsim::require_gpu = true;
  }
  return RUN_ALL_TESTS();
}
