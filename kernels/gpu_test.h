// The fixture of tests that run kernels on a CUDA device.
//
// Without a device a test is skipped, saying why; with --require_gpu it fails.
#ifndef KVSIM_KERNELS_GPU_TEST_H_
#define KVSIM_KERNELS_GPU_TEST_H_

#include <gtest/gtest.h>

#include <string>

#include "kernels/device_array.h"
#include "kernels/launch.h"

namespace kvsim {

extern bool require_gpu;  // --require_gpu, read by gpu_test_main.cc

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why = WhyNoDevice();
    if (why.empty()) return;
    if (require_gpu) FAIL() << "--require_gpu: " << why;
    GTEST_SKIP() << why;
  }

  // Whether the launch was taken and its kernels ended without an error.
  static testing::AssertionResult Ran(const LaunchStatus& status) {
    if (!status.ok()) return testing::AssertionFailure() << status.message;
    const std::string error = WaitForDevice();
    if (error.empty()) return testing::AssertionSuccess();
    return testing::AssertionFailure() << error;
  }
};

}  // namespace kvsim

#endif  // KVSIM_KERNELS_GPU_TEST_H_
