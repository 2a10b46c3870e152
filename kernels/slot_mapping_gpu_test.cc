#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "kernels/gpu_test.h"
#include "kernels/slot_mapping.h"

namespace kvsim {
namespace {

using SlotMappingGpuTest = GpuTest;

// 300 sequences with ragged chunks, four ranks, padding to a multiple of 256.
TEST_F(SlotMappingGpuTest, EqualsHostTwin) {
  RandomStream random(1, "slot mapping on a device");
  std::vector<int32_t> starts = {0};
  std::vector<int64_t> positions;
  std::vector<BlockId> tables;
  constexpr int64_t kStride = 40;
  for (int s = 0; s < 300; ++s) {
    const auto first = static_cast<int64_t>(random.Below(2000));
    for (uint64_t i = 0, n = random.Below(500); i < n; ++i) {
      positions.push_back(first + static_cast<int64_t>(i));
    }
    starts.push_back(static_cast<int32_t>(positions.size()));
    for (int64_t i = 0; i < kStride; ++i) {
      tables.push_back(static_cast<BlockId>(random.Below(1'000'000)));
    }
  }
  SlotMappingArgs args;
  args.share = {.block_tokens = 16, .ranks = 4, .rank = 2, .interleave = 4};
  args.query_starts = starts.data();
  args.block_tables = tables.data();
  args.num_sequences = 300;
  args.table_stride = kStride;
  args.positions = positions.data();
  args.num_tokens = static_cast<int64_t>(positions.size());
  args.num_padded = (args.num_tokens + 255) / 256 * 256;
  std::vector<int64_t> expected(static_cast<size_t>(args.num_padded));
  args.slots = expected.data();
  ASSERT_TRUE(SlotMappingOnHost(args).ok());

  const DeviceArray<int32_t> device_starts(starts);
  const DeviceArray<BlockId> device_tables(tables);
  const DeviceArray<int64_t> device_positions(positions);
  const DeviceArray<int64_t> device_slots(args.num_padded);
  args.query_starts = device_starts.data();
  args.block_tables = device_tables.data();
  args.positions = device_positions.data();
  args.slots = device_slots.data();
  ASSERT_TRUE(Ran(LaunchSlotMapping(args, {})));
  EXPECT_EQ(device_slots.Download(), expected);
}

TEST(SlotMappingLaunchTest, SaysThatThereIsNoDevice) {
  if (HasDevice()) GTEST_SKIP() << "there is one";
  SlotMappingArgs args;
  args.share.block_tokens = 16;
  args.num_padded = 1;
  const LaunchStatus status = LaunchSlotMapping(args, {});
  EXPECT_EQ(status.code, LaunchStatus::Code::kDevice);
  EXPECT_NE(status.device_error, 0);
  EXPECT_NE(WhyNoDevice().find(status.message), std::string::npos);
}

}  // namespace
}  // namespace kvsim
