#include "models/gpu_catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

namespace kvsim {
namespace {

using ::testing::HasSubstr;

// Start-up logs print the total with two decimals.
double Gib(const Gpu& gpu) {
  return static_cast<double>(gpu.engine_total.value()) / 1073741824.0;
}

TEST(GpuCatalogue, MemoryIsWhatTheEngineSees) {
  EXPECT_NEAR(Gib(*FindGpu("H100-SXM")), 79.19, 0.005);
  EXPECT_NEAR(Gib(*FindGpu("H200")), 139.80, 0.005);
  EXPECT_NEAR(Gib(*FindGpu("B200")), 178.35, 0.005);
  // A recorded run prints this card's total as 25,250,627,584 bytes.
  EXPECT_NEAR(static_cast<double>(FindGpu("RTX-4090")->engine_total.value()),
              25250627584.0, 1 << 20);
}

// The name's GB overstates every card but AMD's, whose "GB" are GiB.
TEST(GpuCatalogue, MemoryIsBelowTheVendorsNumberOfGib) {
  for (const Gpu& gpu : AllGpus()) {
    EXPECT_LT(Gib(gpu), gpu.vendor_gb) << gpu.name;
    EXPECT_GT(Gib(gpu), gpu.vendor_gb * 0.49) << gpu.name;
  }
}

TEST(GpuCatalogue, SpellingDoesNotMatter) {
  for (const char* name : {"h100-sxm", "H100 SXM", "NVIDIA H100-SXM", "h100",
                           "NVIDIA-H100-80GB-HBM3"}) {
    ASSERT_TRUE(FindGpu(name).ok()) << name;
    EXPECT_EQ(FindGpu(name)->name, "H100-SXM") << name;
  }
  EXPECT_EQ(FindGpu("AMD Instinct MI300X")->name, "MI300X");
  EXPECT_EQ(FindGpu("geforce rtx 4090")->name, "RTX-4090");
}

TEST(GpuCatalogue, UnknownNameOffersTheNearest) {
  const absl::Status status = FindGpu("H210").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("'H210'"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("H200"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("--gpu-memory"));
  EXPECT_FALSE(FindGpu("").ok());
}

TEST(GpuCatalogue, NamesAreUnique) {
  std::set<std::string> names;
  for (const Gpu& gpu : AllGpus()) {
    EXPECT_TRUE(names.insert(gpu.name).second) << gpu.name;
    EXPECT_EQ(FindGpu(gpu.name)->name, gpu.name);
  }
}

TEST(GpuCatalogue, UnknownRatesAreAbsent) {
  EXPECT_FALSE(FindGpu("A100-80GB-SXM")->fp8_flops.has_value());
  EXPECT_DOUBLE_EQ(*FindGpu("H100-SXM")->memory_bandwidth, 3.35e12);
  EXPECT_EQ(FindGpu("B200")->sm, 100);
  EXPECT_EQ(FindGpu("MI300X")->sm, 0);
}

}  // namespace
}  // namespace kvsim
