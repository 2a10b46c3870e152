#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/page_op.h"
#include "base/random.h"
#include "kernels/gpu_test.h"
#include "kernels/write_tokens.h"

namespace kvsim {
namespace {

using WriteTokensGpuTest = GpuTest;
using Bytes = std::vector<std::byte>;

constexpr int32_t kLayers = 3;

Bytes RandomBytes(int64_t count, RandomStream& random) {
  Bytes bytes(static_cast<size_t>(count));
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random.Below(256));
  }
  return bytes;
}

// Slots of `num_slots` in a random order, every ninth token without one.
std::vector<int64_t> Slots(int64_t num_tokens, int64_t num_slots,
                           RandomStream& random) {
  std::vector<int64_t> slots;
  for (int64_t s = 0; s < num_slots; ++s) slots.push_back(s);
  random.Shuffle(std::span(slots));
  slots.resize(static_cast<size_t>(num_tokens));
  for (size_t i = 0; i < slots.size(); i += 9) slots[i] = kNoSlot;
  return slots;
}

// An array per layer, in both memories, `skip` bytes behind an aligned address.
class LayerArrays {
 public:
  LayerArrays(int64_t bytes, int64_t skip, RandomStream& random) {
    for (int32_t layer = 0; layer < kLayers; ++layer) {
      host_.push_back(RandomBytes(bytes + skip, random));
      device_.emplace_back(host_.back());
      host_pointers_.push_back(host_.back().data() + skip);
      device_pointers_.push_back(device_.back().data() + skip);
    }
    device_table_.emplace_back(device_pointers_);
  }

  std::byte* const* host() const { return host_pointers_.data(); }
  std::byte* const* device() const { return device_table_.front().data(); }
  const Bytes& OnHost(int32_t layer) const {
    return host_[static_cast<size_t>(layer)];
  }
  Bytes OnDevice(int32_t layer) const {
    return device_[static_cast<size_t>(layer)].Download();
  }

 private:
  std::vector<Bytes> host_;
  std::vector<DeviceArray<std::byte>> device_;
  std::vector<std::byte*> host_pointers_;
  std::vector<std::byte*> device_pointers_;
  std::vector<DeviceArray<std::byte*>> device_table_;
};

struct Misalignment {
  int64_t pages = 0;
  int64_t sources = 0;
};

class Comparison {
 public:
  Comparison(const PageFormat& format, const Misalignment& skip,
             int64_t num_tokens)
      : random_(1, "write tokens on a device"),
        num_blocks_(static_cast<int32_t>(num_tokens / format.block_tokens + 2)),
        stride_(format.PaddedPageBytes(16)),
        pages_(num_blocks_ * stride_, skip.pages, random_),
        slots_(Slots(num_tokens, int64_t{num_blocks_} * format.block_tokens,
                     random_)),
        device_slots_(slots_),
        device_scales_(scales_) {
    args_.format = format;
    args_.num_tokens = num_tokens;
    args_.pages = {nullptr, kLayers, num_blocks_, format.block_tokens, stride_};
    for (int p = 0; p < format.num_parts; ++p) {
      args_.sources[p].token_stride =
          (format.parts[p].SourceRowBytes() + 15) / 16 * 16;
      sources_.emplace_back(num_tokens * args_.sources[p].token_stride,
                            skip.sources, random_);
    }
  }

  WriteTokensArgs OnHost() const {
    WriteTokensArgs args = args_;
    args.pages.layers = pages_.host();
    args.slots = slots_.data();
    for (size_t p = 0; p < sources_.size(); ++p) {
      args.sources[p].layers = sources_[p].host();
      args.sources[p].scales = scales_.data();
    }
    return args;
  }
  WriteTokensArgs OnDevice() const {
    WriteTokensArgs args = args_;
    args.pages.layers = pages_.device();
    args.slots = device_slots_.data();
    for (size_t p = 0; p < sources_.size(); ++p) {
      args.sources[p].layers = sources_[p].device();
      args.sources[p].scales = device_scales_.data();
    }
    return args;
  }
  // The first byte in which the two memories differ, or -1.
  int64_t Difference() const {
    for (int32_t layer = 0; layer < kLayers; ++layer) {
      const Bytes& expected = pages_.OnHost(layer);
      const Bytes found = pages_.OnDevice(layer);
      for (size_t i = 0; i < found.size(); ++i) {
        if (found[i] != expected[i]) return static_cast<int64_t>(i);
      }
    }
    return -1;
  }

 private:
  RandomStream random_;
  int32_t num_blocks_;
  int64_t stride_;
  LayerArrays pages_;
  std::vector<int64_t> slots_;
  std::vector<float> scales_ = {0.5f, 1.0f, 0.03f};
  DeviceArray<int64_t> device_slots_;
  DeviceArray<float> device_scales_;
  std::vector<LayerArrays> sources_;
  WriteTokensArgs args_;
};

// Random bytes as bf16 hold every exponent, infinities and NaNs. Whole layers are
// compared, so what lies between the rows, too.
TEST_F(WriteTokensGpuTest, EqualsHostTwin) {
  const std::vector<PageFormat> formats = {
      RawPages(1, 3),
      RawPages(37, 16),
      RawPages(4096, 16),
      DenseBf16Pages(8, 128, 16),
      DenseBf16Pages(1, 5, 7),
      DenseFp8Pages(8, 128, 16),
      DenseFp8Pages(3, 20, 16),
      PerTokenHeadPages(ElementCode::kFp8, 8, 128, 16),
      PerTokenHeadPages(ElementCode::kInt8, 3, 64, 16),
      PerTokenHeadPages(ElementCode::kFp8, 2, 7, 16),
      PerTokenHeadPages(ElementCode::kInt8, 1, 512, 16),
      LatentBf16Pages(512, 64, 64),
      LatentFp8Pages(512, 64, 64),
      Fp8DsMla656Pages(64),
      Fp8DsMla584Pages(64),
      IndexKeyPages(128, 64, false),
      IndexKeyPages(128, 64, true)};
  for (const PageFormat& format : formats) {
    for (const Misalignment& skip : {Misalignment{0, 0}, Misalignment{4, 4},
                                     Misalignment{8, 2}, Misalignment{3, 0}}) {
      for (const int64_t tokens : {1, 333}) {
        const Comparison comparison(format, skip, tokens);
        ASSERT_TRUE(WriteTokensOnHost(comparison.OnHost()).ok());
        ASSERT_TRUE(Ran(LaunchWriteTokens(comparison.OnDevice(), {})));
        ASSERT_EQ(comparison.Difference(), -1)
            << format.row_bytes << "-byte rows, " << tokens
            << " tokens, pages skip " << skip.pages << ", sources "
            << skip.sources;
      }
    }
  }
}

}  // namespace
}  // namespace kvsim
