#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/random.h"
#include "kernels/device_pages.h"
#include "kernels/gpu_test.h"
#include "kernels/paged_buffer.h"
#include "kernels/swap_blocks.h"

namespace kvsim {
namespace {

using SwapBlocksGpuTest = GpuTest;

// An array in pinned memory, which both sides read.
template <typename T>
class Pinned {
 public:
  explicit Pinned(const std::vector<T>& values)
      : bytes_(static_cast<int64_t>(values.size() * sizeof(T))) {
    std::copy(values.begin(), values.end(), data());
  }
  T* data() const { return reinterpret_cast<T*>(bytes_.data()); }

 private:
  PinnedBytes bytes_;
};

// A pool of pinned pages, zero at first.
struct PinnedPages {
  PinnedPages(const PagedLayers& shape, int32_t num_blocks) {
    const int64_t size = num_blocks * shape.block_stride;
    std::vector<std::byte*> pointers;
    for (int32_t layer = 0; layer < shape.num_layers; ++layer) {
      buffers.emplace_back(size);
      std::memset(buffers.back().data(), 0, static_cast<size_t>(size));
      pointers.push_back(buffers.back().data());
    }
    layers = std::make_unique<Pinned<std::byte*>>(pointers);
    pages = shape;
    pages.layers = layers->data();
    pages.num_blocks = num_blocks;
  }
  std::vector<PinnedBytes> buffers;
  std::unique_ptr<Pinned<std::byte*>> layers;
  PagedLayers pages;
};

// Out to the host, over garbage on the device, and back; by kernel and copy engine.
TEST_F(SwapBlocksGpuTest, EqualsHostTwinBothWays) {
  RandomStream random(1, "swap blocks on a device");
  for (const auto method : {SwapMethod::kKernel, SwapMethod::kCopyEngine}) {
    for (const int64_t stride : {100, 4096, 18'432, 65'536}) {
      PagedBuffer content(
          {.num_layers = 2, .num_blocks = 30, .block_stride = stride});
      content.Fill(random);
      const DevicePages source(content);
      PagedBuffer garbage(
          {.num_layers = 2, .num_blocks = 30, .block_stride = stride});
      const DevicePages target(garbage);
      const PinnedPages host(content.pages(), 40);
      std::vector<BlockId> places(40);
      for (BlockId i = 0; i < 40; ++i) places[i] = i;
      random.Shuffle(std::span<BlockId>(places).subspan(10));
      std::vector<BlockPair> out;
      std::vector<BlockPair> back;
      for (BlockId block = 0; block < 30; ++block) {
        out.push_back({block, places[block]});
        back.push_back({places[block], block});
      }
      const Pinned<BlockPair> pinned_out(out);
      const Pinned<BlockPair> pinned_back(back);

      SwapBlocksArgs args;
      args.num_pairs = 30;
      args.method = method;
      args.host = host.pages;
      const Pinned<std::byte*> source_layers(source.Layers());
      args.device = source.pages();
      args.device.layers = source_layers.data();
      args.direction = SwapDirection::kToHost;
      args.pairs = pinned_out.data();
      ASSERT_TRUE(Ran(LaunchSwapBlocks(args, {})));
      for (int32_t layer = 0; layer < 2; ++layer) {
        for (const BlockPair& pair : out) {
          ASSERT_EQ(std::memcmp(host.pages.Page(layer, pair.to),
                                content.pages().Page(layer, pair.from),
                                static_cast<size_t>(stride)),
                    0)
              << "page " << pair.from << " of " << stride;
        }
      }

      const Pinned<std::byte*> target_layers(target.Layers());
      args.device = target.pages();
      args.device.layers = target_layers.data();
      args.direction = SwapDirection::kToDevice;
      args.pairs = pinned_back.data();
      ASSERT_TRUE(Ran(LaunchSwapBlocks(args, {})));
      ASSERT_EQ(target.Contents(), content.Contents()) << "pages of " << stride;
    }
  }
}

// A launch is not blamed for what the runtime refused before it.
TEST_F(SwapBlocksGpuTest, RefusalsConcernTheirOwnCall) {
  PagedBuffer content({.num_blocks = 2, .block_stride = 64});
  RandomStream random(2, "swap blocks on a device");
  content.Fill(random);
  const DevicePages device(content);
  const Pinned<std::byte*> device_layers(device.Layers());
  const PinnedPages host(content.pages(), 2);
  const Pinned<std::byte*> nowhere(std::vector<std::byte*>{nullptr});
  const Pinned<BlockPair> pairs(std::vector<BlockPair>{{1, 0}});
  SwapBlocksArgs args;
  args.device = device.pages();
  args.device.layers = device_layers.data();
  args.host = host.pages;
  args.pairs = pairs.data();
  args.num_pairs = 1;

  SwapBlocksArgs refused = args;
  refused.host.layers = nowhere.data();
  refused.method = SwapMethod::kCopyEngine;
  EXPECT_EQ(LaunchSwapBlocks(refused, {}).code, LaunchStatus::Code::kDevice);
  args.method = SwapMethod::kKernel;
  ASSERT_TRUE(Ran(LaunchSwapBlocks(args, {})));
  EXPECT_EQ(std::memcmp(host.pages.Page(0, 0), content.pages().Page(0, 1), 64),
            0);
}

}  // namespace
}  // namespace kvsim
