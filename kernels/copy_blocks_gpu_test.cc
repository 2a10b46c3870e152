#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "kernels/copy_blocks.h"
#include "kernels/device_pages.h"
#include "kernels/gpu_test.h"
#include "kernels/paged_buffer.h"

namespace kvsim {
namespace {

using CopyBlocksGpuTest = GpuTest;

// Page sizes around the pieces, with ragged ends; bases that agree on no word.
TEST_F(CopyBlocksGpuTest, EqualsHostTwin) {
  RandomStream random(1, "copy blocks on a device");
  for (const int64_t stride : {1, 18, 4095, 4096, 4100, 18'432, 65'536}) {
    for (const int64_t misalignment : {0, 4, 5}) {
      PagedBuffer host({.num_layers = 3,
                        .num_blocks = 100,
                        .block_stride = stride,
                        .misalignment = misalignment});
      host.Fill(random);
      const DevicePages device(host, misalignment);
      std::vector<BlockPair> pairs;
      for (BlockId to = 50; to < 100; ++to) {
        pairs.push_back({static_cast<BlockId>(random.Below(50)), to});
      }
      const DeviceArray<BlockPair> device_pairs(pairs);
      for (const int64_t bytes : {stride, stride / 2}) {
        CopyBlocksArgs args = {host.pages(), pairs.data(), 50, bytes};
        ASSERT_TRUE(CopyBlocksOnHost(args).ok());
        args.pages = device.pages();
        args.pairs = device_pairs.data();
        ASSERT_TRUE(Ran(LaunchCopyBlocks(args, {})));
        ASSERT_EQ(device.Contents(), host.Contents())
            << bytes << " of " << stride << ", offset " << misalignment;
      }
    }
  }
}

// Every warp copies several pages, one after another.
TEST_F(CopyBlocksGpuTest, MorePagesThanWarps) {
  constexpr BlockId kPairs = 20'000;
  RandomStream random(2, "copy blocks on a device");
  PagedBuffer host(
      {.num_layers = 2, .num_blocks = 2 * kPairs, .block_stride = 18});
  host.Fill(random);
  const DevicePages device(host);
  std::vector<BlockPair> pairs;
  for (BlockId i = 0; i < kPairs; ++i) pairs.push_back({kPairs + i, i});
  const DeviceArray<BlockPair> device_pairs(pairs);
  CopyBlocksArgs args = {host.pages(), pairs.data(), kPairs, 18};
  ASSERT_TRUE(CopyBlocksOnHost(args).ok());
  args.pages = device.pages();
  args.pairs = device_pairs.data();
  ASSERT_TRUE(Ran(LaunchCopyBlocks(args, {})));
  EXPECT_EQ(device.Contents(), host.Contents());
}

}  // namespace
}  // namespace kvsim
