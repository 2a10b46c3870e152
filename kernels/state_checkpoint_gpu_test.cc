#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "kernels/device_pages.h"
#include "kernels/gpu_test.h"
#include "kernels/paged_buffer.h"
#include "kernels/state_checkpoint.h"
#include "kernels/state_pool.h"

namespace kvsim {
namespace {

using StateCheckpointGpuTest = GpuTest;

constexpr int32_t kSlots = 4;

std::vector<std::byte> BytesOf(std::span<std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

// Heads of one layer, saved and restored to another slot: pages and states are the
// host twin's, bit by bit. Odd shapes, and slots but the first, which are a float
// off, take the path without wide words.
TEST_F(StateCheckpointGpuTest, EqualsHostTwin) {
  RandomStream random(1, "state checkpoint on a device");
  const StateFormat shapes[] = {{32, 128, 128, 73'728}, {3, 5, 7, 13}};
  for (StateFormat format : shapes) {
    for (const auto encoding :
         {StateEncoding::kFloat32, StateEncoding::kBfloat16,
          StateEncoding::kInt8}) {
      format.encoding = encoding;
      StatePool pool(format, 1, kSlots);
      pool.Fill(random);
      PagedBuffer pages({.num_blocks = 3,
                         .block_stride = (format.PageBytes() + 15) / 16 * 16});
      const DevicePages device_pages(pages);
      const DeviceArray<std::byte> states(BytesOf(pool.StateBytes(0)));
      const DeviceArray<std::byte> convs(BytesOf(pool.ConvolutionBytes(0)));
      const DeviceArray<float*> state_pointers(
          std::vector<float*>{reinterpret_cast<float*>(states.data())});
      const DeviceArray<std::byte*> conv_pointers(
          std::vector<std::byte*>{convs.data()});

      const std::vector<StatePair> saved = {{0, 2}, {1, 0}};
      const std::vector<StatePair> back = {{2, 2}, {0, 0}};
      const DeviceArray<StatePair> device_saved(saved);
      const DeviceArray<StatePair> device_back(back);
      StateCheckpointArgs args = pool.Args(pages.pages(), saved);
      ASSERT_TRUE(SaveStateOnHost(args).ok());
      ASSERT_TRUE(RestoreStateOnHost(pool.Args(pages.pages(), back)).ok());

      args.pages = device_pages.pages();
      args.states = state_pointers.data();
      args.convolutions = conv_pointers.data();
      args.pairs = device_saved.data();
      ASSERT_TRUE(Ran(LaunchSaveState(args, {})));
      ASSERT_EQ(device_pages.Contents(), pages.Contents());
      args.pairs = device_back.data();
      ASSERT_TRUE(Ran(LaunchRestoreState(args, {})));
      ASSERT_EQ(states.Download(), BytesOf(pool.StateBytes(0)));
      ASSERT_EQ(convs.Download(), BytesOf(pool.ConvolutionBytes(0)));
    }
  }
}

// Every thread block saves several heads, one after another.
TEST_F(StateCheckpointGpuTest, MoreHeadsThanThreadBlocks) {
  constexpr int32_t kStates = 2000;
  RandomStream random(2, "state checkpoint on a device");
  const StateFormat format = {3, 5, 7, 13, StateEncoding::kInt8};
  StatePool pool(format, 1, kStates);
  pool.Fill(random);
  PagedBuffer pages({.num_blocks = kStates,
                     .block_stride = (format.PageBytes() + 15) / 16 * 16});
  const DevicePages device_pages(pages);
  const DeviceArray<std::byte> states(BytesOf(pool.StateBytes(0)));
  const DeviceArray<std::byte> convs(BytesOf(pool.ConvolutionBytes(0)));
  const DeviceArray<float*> state_pointers(
      std::vector<float*>{reinterpret_cast<float*>(states.data())});
  const DeviceArray<std::byte*> conv_pointers(
      std::vector<std::byte*>{convs.data()});
  std::vector<StatePair> pairs;
  for (uint32_t i = 0; i < kStates; ++i) pairs.push_back({i, kStates - 1 - i});
  const DeviceArray<StatePair> device_pairs(pairs);
  StateCheckpointArgs args = pool.Args(pages.pages(), pairs);
  ASSERT_TRUE(SaveStateOnHost(args).ok());
  args.pages = device_pages.pages();
  args.states = state_pointers.data();
  args.convolutions = conv_pointers.data();
  args.pairs = device_pairs.data();
  ASSERT_TRUE(Ran(LaunchSaveState(args, {})));
  EXPECT_EQ(device_pages.Contents(), pages.Contents());
}

}  // namespace
}  // namespace kvsim
