#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "kernels/device_free_list.h"
#include "kernels/gpu_test.h"

namespace kvsim {
namespace {

constexpr int64_t kBlocks = 20'011;

// The same calls to a list on the device and to one on the host.
class DeviceFreeListGpuTest : public GpuTest {
 protected:
  struct Memory {
    std::vector<BlockId> ring = std::vector<BlockId>(kBlocks - 1);
    std::vector<uint32_t> free_bits =
        std::vector<uint32_t>((kBlocks + 31) / 32);
    std::vector<uint32_t> marks = free_bits;
    std::vector<FreeListState> state = {{}};
  };
  struct DeviceMemory {
    DeviceArray<BlockId> ring{kBlocks - 1};
    DeviceArray<uint32_t> free_bits{(kBlocks + 31) / 32};
    DeviceArray<uint32_t> marks{(kBlocks + 31) / 32};
    DeviceArray<FreeListState> state{1};
  };
  template <typename M>
  static DeviceFreeList ListOf(M& memory) {
    return {memory.ring.data(), memory.free_bits.data(), memory.marks.data(),
            memory.state.data(), kBlocks};
  }

  static void ExpectEqual(const Memory& host, const DeviceMemory& device) {
    ASSERT_EQ(device.state.Download(), host.state);
    ASSERT_EQ(device.ring.Download(), host.ring);
    ASSERT_EQ(device.free_bits.Download(), host.free_bits);
    ASSERT_EQ(device.marks.Download(), host.marks);
  }

  // The blocks taken.
  static std::vector<BlockId> Allocate(Memory& host, DeviceMemory& device,
                                       const std::vector<int32_t>& counts) {
    std::vector<int64_t> starts(counts.size() + 1);
    std::vector<BlockId> blocks(kBlocks);
    std::vector<AllocateResult> result(1);
    AllocateBlocksArgs args;
    args.list = ListOf(host);
    args.counts = counts.data();
    args.num_requests = static_cast<int64_t>(counts.size());
    args.starts = starts.data();
    args.blocks = blocks.data();
    args.capacity = kBlocks;
    args.result = result.data();
    EXPECT_TRUE(AllocateBlocksOnHost(args).ok());

    const DeviceArray<int32_t> device_counts(counts);
    const DeviceArray<int64_t> device_starts(args.num_requests + 1);
    const DeviceArray<BlockId> device_blocks(
        std::vector<BlockId>(kBlocks, BlockId{0}));
    const DeviceArray<AllocateResult> device_result(1);
    args.list = ListOf(device);
    args.counts = device_counts.data();
    args.starts = device_starts.data();
    args.blocks = device_blocks.data();
    args.result = device_result.data();
    EXPECT_TRUE(Ran(LaunchAllocateBlocks(args, {})));
    EXPECT_EQ(device_result.Download(), result);
    EXPECT_EQ(device_starts.Download(), starts);
    EXPECT_EQ(device_blocks.Download(), blocks);
    const bool taken = result[0].code == AllocateResult::Code::kTaken;
    blocks.resize(taken ? static_cast<size_t>(result[0].wanted) : 0);
    return blocks;
  }

  // Whether they were given back; lists of 1000 blocks, the last one ragged.
  static bool Release(Memory& host, DeviceMemory& device, FreeEnd end,
                      const std::vector<BlockId>& blocks) {
    const auto num_blocks = static_cast<int64_t>(blocks.size());
    std::vector<int64_t> starts;
    for (int64_t i = 0; i < num_blocks; i += 1000) starts.push_back(i);
    starts.push_back(num_blocks);
    std::vector<ReleaseResult> result(1);
    ReleaseBlocksArgs args;
    args.list = ListOf(host);
    args.end = end;
    args.released = blocks.data();
    args.list_starts = starts.data();
    args.num_lists = static_cast<int64_t>(starts.size()) - 1;
    args.result = result.data();
    EXPECT_TRUE(ReleaseBlocksOnHost(args).ok());

    const DeviceArray<BlockId> device_blocks(blocks);
    const DeviceArray<int64_t> device_starts(starts);
    const DeviceArray<ReleaseResult> device_result(1);
    args.list = ListOf(device);
    args.released = device_blocks.data();
    args.list_starts = device_starts.data();
    args.result = device_result.data();
    EXPECT_TRUE(Ran(LaunchReleaseBlocks(args, {})));
    EXPECT_EQ(device_result.Download(), result);
    return result[0].code == ReleaseResult::Code::kReleased;
  }

  static TouchResult Touch(Memory& host, DeviceMemory& device,
                           const std::vector<BlockId>& hits) {
    std::vector<TouchResult> result(1);
    TouchBlocksArgs args;
    args.list = ListOf(host);
    args.hits = hits.data();
    args.num_hits = static_cast<int64_t>(hits.size());
    args.result = result.data();
    EXPECT_TRUE(TouchBlocksOnHost(args).ok());

    const DeviceArray<BlockId> device_hits(hits);
    const DeviceArray<TouchResult> device_result(1);
    args.list = ListOf(device);
    args.hits = device_hits.data();
    args.result = device_result.data();
    EXPECT_TRUE(Ran(LaunchTouchBlocks(args, {})));
    EXPECT_EQ(device_result.Download(), result);
    return result[0];
  }
};

// Up to 2999 requests a step, so that their sums take several rounds.
TEST_F(DeviceFreeListGpuTest, EqualsHostTwin) {
  RandomStream random(1, "free list on a device");
  Memory host;
  DeviceMemory device;
  ASSERT_TRUE(ResetFreeListOnHost(ListOf(host)).ok());
  ASSERT_TRUE(Ran(LaunchResetFreeList(ListOf(device), {})));
  ExpectEqual(host, device);
  std::vector<BlockId> held;
  for (int step = 0; step < 60; ++step) {
    std::vector<int32_t> counts(random.Below(3000));
    for (int32_t& count : counts) count = static_cast<int32_t>(random.Below(9));
    const std::vector<BlockId> taken = Allocate(host, device, counts);
    held.insert(held.end(), taken.begin(), taken.end());
    ExpectEqual(host, device);
    random.Shuffle(std::span<BlockId>(held));
    const auto kept = static_cast<int64_t>(random.Below(held.size() + 1));
    const std::vector<BlockId> released(held.begin() + kept, held.end());
    held.resize(static_cast<size_t>(kept));
    EXPECT_TRUE(Release(host, device,
                        step % 2 == 0 ? FreeEnd::kBack : FreeEnd::kFront,
                        released));
    ExpectEqual(host, device);
  }
}

TEST_F(DeviceFreeListGpuTest, FindsWhatTheHostFinds) {
  Memory host;
  DeviceMemory device;
  ASSERT_TRUE(ResetFreeListOnHost(ListOf(host)).ok());
  ASSERT_TRUE(Ran(LaunchResetFreeList(ListOf(device), {})));
  Allocate(host, device, {3, -1, 3});
  Allocate(host, device, {static_cast<int32_t>(kBlocks), 1});
  std::vector<BlockId> held = Allocate(host, device, {5000});
  ASSERT_EQ(held.size(), 5000);
  held.push_back(4000);
  held.push_back(17);
  EXPECT_FALSE(Release(host, device, FreeEnd::kBack, held));  // twice
  held.push_back(6000);
  EXPECT_FALSE(Release(host, device, FreeEnd::kFront, held));  // free, too
  held.push_back(static_cast<BlockId>(kBlocks));
  EXPECT_FALSE(Release(host, device, FreeEnd::kBack, held));  // unknown, too
  held.push_back(kNullBlock);
  EXPECT_FALSE(Release(host, device, FreeEnd::kFront, held));
  ExpectEqual(host, device);
  EXPECT_TRUE(Release(host, device, FreeEnd::kFront, {17, 4000, 1}));
  ExpectEqual(host, device);
}

TEST_F(DeviceFreeListGpuTest, TouchedBlocksLeaveFromAnywhere) {
  RandomStream random(2, "free list on a device");
  Memory host;
  DeviceMemory device;
  ASSERT_TRUE(ResetFreeListOnHost(ListOf(host)).ok());
  ASSERT_TRUE(Ran(LaunchResetFreeList(ListOf(device), {})));
  for (int step = 0; step < 6; ++step) {
    const std::vector<BlockId> taken = Allocate(host, device, {5000});
    std::vector<BlockId> hits(random.Below(5000));
    for (BlockId& hit : hits) {
      hit = static_cast<BlockId>(1 + random.Below(kBlocks - 1));
    }
    EXPECT_GT(Touch(host, device, hits).taken, 0);
    ExpectEqual(host, device);
    hits.push_back(static_cast<BlockId>(kBlocks + step));
    EXPECT_EQ(Touch(host, device, hits).code, TouchResult::Code::kUnknownBlock);
    // Some of these were hit while they were held.
    EXPECT_TRUE(Release(host, device, FreeEnd::kBack, taken));
    ExpectEqual(host, device);
  }
}

}  // namespace
}  // namespace kvsim
