#include "kernels/state_checkpoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/random.h"
#include "kernels/guarded_buffer.h"
#include "kernels/paged_buffer.h"
#include "kernels/state_pool.h"

namespace kvsim {
namespace {

constexpr StateEncoding kEncodings[] = {
    StateEncoding::kFloat32, StateEncoding::kBfloat16, StateEncoding::kInt8};

// What a number becomes in bf16: of the two neighbours with 8 significant bits, the
// nearer one, or the one whose last bit is 0.
float NaiveBfloat16(float value) {
  if (value == 0) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  exponent = std::max(exponent, -125);  // subnormal numbers share their steps
  const double step = std::ldexp(1.0, exponent - 8);
  return static_cast<float>(std::nearbyint(value / step) * step);
}

// What the elements of a head become, told in double precision.
std::vector<float> NaiveHead(StateEncoding encoding, const float* values,
                             int64_t count) {
  std::vector<float> head(values, values + count);
  if (encoding == StateEncoding::kBfloat16) {
    for (float& value : head) value = NaiveBfloat16(value);
  }
  return head;
}

// |x - x'| of int8: half a step of the head's largest magnitude / 127, and rounding.
double Int8Bound(const float* values, int64_t count) {
  float largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    largest = std::max(largest, std::fabs(values[i]));
  }
  return std::max(largest / 127.0, 0x1p-126) / 2 * (1 + 1e-6);
}

void ExpectRestored(const StateFormat& format, const float* before,
                    const float* after) {
  for (int32_t head = 0; head < format.heads; ++head) {
    const int64_t count = format.HeadElements();
    if (format.encoding == StateEncoding::kInt8) {
      const double bound = Int8Bound(before, count);
      for (int64_t i = 0; i < count; ++i) {
        ASSERT_LE(std::fabs(double{after[i]} - before[i]), bound)
            << before[i] << " became " << after[i];
      }
    } else {
      const std::vector<float> expected =
          NaiveHead(format.encoding, before, count);
      ASSERT_EQ(std::memcmp(after, expected.data(), sizeof(float) * count), 0);
    }
    before += count;
    after += count;
  }
}

// Saves slots to pages, restores them to other slots of a second pool, and compares;
// nothing else may change.
void RoundTrip(const StateFormat& format, int32_t layers,
               RandomStream& random) {
  constexpr int32_t kSlots = 5;
  constexpr int32_t kBlocks = 6;
  StatePool running(format, layers, kSlots);
  running.Fill(random);
  StatePool restored(format, layers, kSlots);
  const int64_t stride = (format.PageBytes() + 3) / 4 * 4 + 8;
  PagedBuffer pages(
      {.num_layers = layers, .num_blocks = kBlocks, .block_stride = stride});
  const auto poison = pages.Contents();
  const std::vector<StatePair> saved = {{3, 5}, {0, 2}, {4, 1}};
  const std::vector<StatePair> back = {{1, 5}, {2, 2}, {0, 1}};

  StateCheckpointArgs args = running.Args(pages.pages(), saved);
  ASSERT_TRUE(SaveStateOnHost(args).ok());
  const auto contents = pages.Contents();
  for (size_t layer = 0; layer < contents.size(); ++layer) {
    std::vector<bool> written(contents[layer].size());
    for (const StatePair& pair : saved) {
      std::fill_n(written.begin() + pair.block * stride, format.PageBytes(),
                  true);
    }
    for (size_t i = 0; i < written.size(); ++i) {
      if (written[i]) continue;
      ASSERT_EQ(contents[layer][i], poison[layer][i]) << "byte " << i;
    }
  }

  args = restored.Args(pages.pages(), back);
  ASSERT_TRUE(RestoreStateOnHost(args).ok());
  ASSERT_EQ(pages.Contents(), contents);
  for (int32_t layer = 0; layer < layers; ++layer) {
    for (size_t i = 0; i < saved.size(); ++i) {
      ExpectRestored(format, running.State(layer, saved[i].slot),
                     restored.State(layer, back[i].slot));
      ASSERT_EQ(std::memcmp(running.Convolutions(layer, saved[i].slot),
                            restored.Convolutions(layer, back[i].slot),
                            static_cast<size_t>(format.conv_bytes)),
                0);
    }
    ASSERT_TRUE(restored.Untouched(layer, 3));
    ASSERT_TRUE(restored.Untouched(layer, 4));
  }
}

TEST(StateCheckpointTest, AllSmallShapes) {
  RandomStream random(1, "state checkpoint");
  for (const StateEncoding encoding : kEncodings) {
    for (int32_t heads = 1; heads <= 3; ++heads) {
      for (int32_t key = 1; key <= 4; ++key) {
        for (int32_t value = 1; value <= 4; ++value) {
          for (const int64_t conv : {0, 1, 7, 12}) {
            RoundTrip({heads, key, value, conv, encoding}, 2, random);
            ASSERT_FALSE(HasFailure())
                << heads << " heads of " << key << " x " << value;
          }
        }
      }
    }
  }
}

TEST(StateCheckpointTest, LargeShapes) {
  RandomStream random(2, "state checkpoint");
  for (const StateEncoding encoding : kEncodings) {
    for (int round = 0; round < 5; ++round) {
      RoundTrip({static_cast<int32_t>(random.Between(1, 8)),
                 static_cast<int32_t>(random.Between(1, 128)),
                 static_cast<int32_t>(random.Between(1, 128)),
                 random.Between(0, 5000), encoding},
                1, random);
      ASSERT_FALSE(HasFailure()) << "round " << round;
    }
  }
}

// 20 KDA layers of 32 heads of 128 x 128, and 3 rows of the convolutions of q, k and
// v, 3 * 32 * 128 channels in bf16: 73,728 bytes a layer. A layer's state is
// 524,288 elements: 2,097,152, 1,048,576 or 524,288 bytes and, for int8, 32 scales,
// 128 bytes.
TEST(StateCheckpointTest, PageBytesAreThoseOfTheArticle) {
  StateFormat format = {.heads = 32,
                        .key_dim = 128,
                        .value_dim = 128,
                        .conv_bytes = 3 * (3 * 32 * 128) * 2};
  EXPECT_EQ(20 * format.PageBytes(), 43'417'600);
  format.encoding = StateEncoding::kBfloat16;
  EXPECT_EQ(20 * format.PageBytes(), 22'446'080);
  format.encoding = StateEncoding::kInt8;
  EXPECT_EQ(20 * format.PageBytes(), 11'962'880);
}

// One head of -127, 2.5, 3.5 and 0: scale 1, ties to even. A head of zeros keeps the
// least scale and comes back as zeros.
TEST(StateCheckpointTest, Int8ByHand) {
  const StateFormat format = {2, 2, 2, 0, StateEncoding::kInt8};
  StatePool running(format, 1, 1);
  PagedBuffer pages({.block_stride = 16});
  float* state = running.State(0, 0);
  const float values[] = {-127, 2.5f, 3.5f, 0, 0, 0, 0, 0};
  std::copy(std::begin(values), std::end(values), state);
  const std::vector<StatePair> pairs = {{0, 0}};
  const StateCheckpointArgs args = running.Args(pages.pages(), pairs);
  ASSERT_TRUE(SaveStateOnHost(args).ok());
  float scales[2];
  int8_t codes[8];
  std::memcpy(scales, pages.pages().Page(0, 0), 8);
  std::memcpy(codes, pages.pages().Page(0, 0) + 8, 8);
  EXPECT_EQ(scales[0], 1);
  EXPECT_EQ(scales[1], 0x1p-126f);
  const int8_t expected[] = {-127, 2, 4, 0, 0, 0, 0, 0};
  EXPECT_EQ(std::memcmp(codes, expected, 8), 0);
  ASSERT_TRUE(RestoreStateOnHost(args).ok());
  const float rounded[] = {-127, 2, 4, 0, 0, 0, 0, 0};
  EXPECT_EQ(std::memcmp(state, rounded, sizeof(rounded)), 0);
}

TEST(StateCheckpointTest, RefusesWhatItCanSee) {
  const StateFormat format = {1, 2, 2, 3, StateEncoding::kFloat32};
  StatePool running(format, 1, 2);
  PagedBuffer pages({.num_blocks = 2, .block_stride = 20});
  std::vector<StatePair> pairs = {{0, 0}, {2, 1}};
  const StateCheckpointArgs good = running.Args(pages.pages(), pairs);
  const auto refusal = [](const StateCheckpointArgs& args) {
    EXPECT_STREQ(SaveStateOnHost(args).message,
                 RestoreStateOnHost(args).message);
    return std::string(SaveStateOnHost(args).message);
  };
  EXPECT_EQ(refusal(good), "a slot is outside num_slots");
  pairs[1] = {1, 2};
  EXPECT_EQ(refusal(good), "a block is outside its pool");
  StateCheckpointArgs args = good;
  args.format.key_dim = 0;
  EXPECT_EQ(refusal(args), "format has no heads, keys or values");
  args = good;
  args.num_pairs = -1;
  EXPECT_EQ(refusal(args), "a count is negative");
  args = good;
  args.pages.block_stride = 16;  // the page is 4 * 4 + 3
  EXPECT_EQ(refusal(args),
            "pages.block_stride must hold format.PageBytes() and be a "
            "multiple of 4");
  args = good;
  args.state_stride = 3;
  EXPECT_EQ(refusal(args), "state_stride is less than a state");
  args = good;
  args.conv_stride = 2;
  EXPECT_EQ(refusal(args), "conv_stride is less than conv_bytes");
}

}  // namespace
}  // namespace kvsim
