#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "kernels/gpu_test.h"
#include "kernels/stamp_blocks.h"

namespace kvsim {
namespace {

class StampBlocksGpuTest : public GpuTest {
 protected:
  static void ExpectEqualsHostTwin(int64_t bytes, int64_t misalignment);
};

constexpr int32_t kLayers = 5;
constexpr int32_t kBlocks = 100;
constexpr int64_t kStride = 9216;

// Two lists of layers of one pool: on the host and on the device, which may start
// away from a boundary of 16 bytes.
struct Pools {
  explicit Pools(int64_t misalignment)
      : host(static_cast<size_t>(kLayers * kBlocks * kStride)),
        device(static_cast<int64_t>(host.size()) + misalignment) {
    RandomStream random(1, "stamps on a device");
    for (std::byte& byte : host) {
      byte = static_cast<std::byte>(random.Below(256));
    }
    device.Upload(host.data(), static_cast<int64_t>(host.size()), misalignment);
    for (int64_t layer = 0; layer < kLayers; ++layer) {
      host_layers.push_back(host.data() + layer * kBlocks * kStride);
      device_layers.push_back(device.data() + misalignment +
                              layer * kBlocks * kStride);
    }
  }

  std::vector<std::byte> host;
  DeviceBytes device;
  std::vector<std::byte*> host_layers;
  std::vector<std::byte*> device_layers;
};

PagedLayers Pages(std::byte* const* layers) {
  return {layers, kLayers, kBlocks, 16, kStride};
}

void StampBlocksGpuTest::ExpectEqualsHostTwin(int64_t bytes,
                                              int64_t misalignment) {
  const Pools pools(misalignment);
  std::vector<BlockId> blocks;
  std::vector<uint64_t> owners;
  std::vector<uint64_t> generations;
  for (BlockId block = 0; block < kBlocks; ++block) {
    blocks.push_back(block * 7 % kBlocks);
    owners.push_back(block / 3);
    generations.push_back(block % 5);
  }
  std::vector<BlockTag> expected(kBlocks);
  StampBlocksArgs stamp = {Pages(pools.host_layers.data()),
                           expected.data(),
                           blocks.data(),
                           owners.data(),
                           generations.data(),
                           kBlocks,
                           bytes};
  ASSERT_TRUE(StampBlocksOnHost(stamp).ok());

  const DeviceArray<std::byte*> layers(pools.device_layers);
  const DeviceArray<BlockTag> tags(std::vector<BlockTag>(kBlocks, BlockTag{}));
  const DeviceArray<BlockId> device_blocks(blocks);
  const DeviceArray<uint64_t> device_owners(owners);
  const DeviceArray<uint64_t> device_generations(generations);
  stamp = {Pages(layers.data()),
           tags.data(),
           device_blocks.data(),
           device_owners.data(),
           device_generations.data(),
           kBlocks,
           bytes};
  ASSERT_TRUE(Ran(LaunchStampBlocks(stamp, {})));
  ASSERT_EQ(tags.Download(), expected);

  // One block of each kind of trouble.
  std::vector<BlockTag> spoiled = expected;
  ++spoiled[11].owner;
  ++spoiled[12].generation;
  ++spoiled[13].checksum;
  const DeviceArray<BlockTag> device_spoiled(spoiled);
  std::vector<BlockVerdict> wanted(kBlocks);
  VerifyBlocksArgs verify = {Pages(pools.host_layers.data()),
                             spoiled.data(),
                             blocks.data(),
                             owners.data(),
                             generations.data(),
                             kBlocks,
                             bytes,
                             wanted.data()};
  ASSERT_TRUE(VerifyBlocksOnHost(verify).ok());
  const DeviceArray<BlockVerdict> verdicts(kBlocks);
  verify = {Pages(layers.data()),
            device_spoiled.data(),
            device_blocks.data(),
            device_owners.data(),
            device_generations.data(),
            kBlocks,
            bytes,
            verdicts.data()};
  ASSERT_TRUE(Ran(LaunchVerifyBlocks(verify, {})));
  EXPECT_EQ(verdicts.Download(), wanted);
}

TEST_F(StampBlocksGpuTest, EqualsHostTwin) {
  for (const int64_t bytes : {0, 5, 64, 4096, 9203, 9216}) {
    for (const int64_t misalignment : {0, 3, 8}) {
      ExpectEqualsHostTwin(bytes, misalignment);
    }
  }
}

// Every thread block verifies several, one after another.
TEST_F(StampBlocksGpuTest, MoreBlocksThanThreadBlocks) {
  constexpr int64_t kEntries = 5'000;
  constexpr int64_t kBytes = 200;
  const Pools pools(0);
  RandomStream random(2, "stamps on a device");
  std::vector<BlockId> blocks;
  for (BlockId block = 0; block < kBlocks; ++block) blocks.push_back(block);
  const std::vector<uint64_t> zeros(kEntries);
  std::vector<BlockTag> tags(kBlocks);
  ASSERT_TRUE(StampBlocksOnHost({Pages(pools.host_layers.data()), tags.data(),
                                 blocks.data(), zeros.data(), zeros.data(),
                                 kBlocks, kBytes})
                  .ok());
  for (size_t block = 0; block < kBlocks; block += 7) ++tags[block].checksum;
  blocks.clear();
  for (int64_t i = 0; i < kEntries; ++i) {
    blocks.push_back(static_cast<BlockId>(random.Below(kBlocks)));
  }
  std::vector<BlockVerdict> expected(kEntries);
  VerifyBlocksArgs args = {Pages(pools.host_layers.data()),
                           tags.data(),
                           blocks.data(),
                           zeros.data(),
                           zeros.data(),
                           kEntries,
                           kBytes,
                           expected.data()};
  ASSERT_TRUE(VerifyBlocksOnHost(args).ok());

  const DeviceArray<std::byte*> layers(pools.device_layers);
  const DeviceArray<BlockTag> device_tags(tags);
  const DeviceArray<BlockId> device_blocks(blocks);
  const DeviceArray<uint64_t> device_zeros(zeros);
  const DeviceArray<BlockVerdict> verdicts(kEntries);
  args = {Pages(layers.data()),
          device_tags.data(),
          device_blocks.data(),
          device_zeros.data(),
          device_zeros.data(),
          kEntries,
          kBytes,
          verdicts.data()};
  ASSERT_TRUE(Ran(LaunchVerifyBlocks(args, {})));
  EXPECT_EQ(verdicts.Download(), expected);
}

}  // namespace
}  // namespace kvsim
