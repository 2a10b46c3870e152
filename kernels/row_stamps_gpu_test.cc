#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kernels/gpu_test.h"
#include "kernels/row_stamps.h"

namespace kvsim {
namespace {

using RowStampsGpuTest = GpuTest;

TEST_F(RowStampsGpuTest, EqualsHostTwin) {
  constexpr int64_t kRows = 1000;
  std::vector<uint64_t> stamps;
  for (uint64_t i = 0; i < kRows; ++i) stamps.push_back(i * i);
  const DeviceArray<uint64_t> device_stamps(stamps);
  for (const int64_t row_bytes : {1, 8, 24, 61, 4096}) {
    std::vector<std::byte> expected(static_cast<size_t>(kRows * row_bytes));
    ASSERT_TRUE(
        FillRowsOnHost({expected.data(), row_bytes, stamps.data(), kRows})
            .ok());
    const DeviceArray<std::byte> rows(kRows * row_bytes);
    ASSERT_TRUE(Ran(LaunchFillRows(
        {rows.data(), row_bytes, device_stamps.data(), kRows}, {})));
    EXPECT_EQ(rows.Download(), expected);
    expected[static_cast<size_t>(700 * row_bytes)] ^= std::byte{1};
    expected[static_cast<size_t>(500 * row_bytes)] ^= std::byte{1};
    const DeviceArray<std::byte> broken(expected);
    const DeviceArray<unsigned long long> fault(
        std::vector<unsigned long long>{kRows});
    ASSERT_TRUE(Ran(LaunchCheckRows(
        {broken.data(), row_bytes, device_stamps.data(), kRows, fault.data()},
        {})));
    EXPECT_EQ(fault.Download()[0], 500u);
  }
}

}  // namespace
}  // namespace kvsim
