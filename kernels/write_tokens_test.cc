#include "kernels/write_tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "base/page_op.h"
#include "base/random.h"
#include "kernels/guarded_buffer.h"

namespace kvsim {
namespace {

using Bytes = std::vector<std::byte>;
using Page = std::span<std::byte>;
using Row = std::vector<float>;

// --- the plain telling ---------------------------------------------------------
//
// Every format told once more, from the engines' descriptions: which byte of the
// page each element of a row is.

void Put(Page page, int64_t at, const void* value, size_t bytes) {
  ASSERT_LE(static_cast<size_t>(at) + bytes, page.size());
  std::memcpy(page.data() + at, value, bytes);
}

void PutFloat(Page page, int64_t at, float value) {
  Put(page, at, &value, sizeof(value));
}

void PutByte(Page page, int64_t at, int value) {
  const auto byte = static_cast<uint8_t>(value);
  Put(page, at, &byte, 1);
}

// The elements of rows are bf16 numbers already.
void PutBf16(Page page, int64_t at, float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const auto code = static_cast<uint16_t>(bits >> 16);
  Put(page, at, &code, sizeof(code));
}

// The e4m3 code nearest to a float, the even one of two; among the 127 numbers
// that are not negative the codes are ordered as the numbers are.
int Fp8(float value) {
  static const std::vector<double>& numbers = *new std::vector<double>([] {
    std::vector<double> all;
    for (int code = 0; code < 0x7f; ++code) {
      const int exponent = code / 8;
      all.push_back(exponent == 0 ? std::ldexp(code, -9)
                                  : std::ldexp(8 + code % 8, exponent - 10));
    }
    return all;
  }());
  if (std::isnan(value)) return 0x7f;
  const int sign = std::signbit(value) ? 0x80 : 0;
  const double wanted = std::min(std::fabs(double{value}), 448.0);
  const auto above = std::lower_bound(numbers.begin(), numbers.end(), wanted);
  const auto high = static_cast<int>(above - numbers.begin());
  if (high == 0) return sign;
  const double up = numbers[static_cast<size_t>(high)] - wanted;
  const double down = wanted - numbers[static_cast<size_t>(high - 1)];
  const bool take_high = up < down || (up == down && high % 2 == 0);
  return (take_high ? high : high - 1) | sign;
}

int Int8(float value) {
  if (std::isnan(value)) return 0;
  return static_cast<int>(
      std::nearbyint(std::clamp(double{value}, -127.0, 127.0)));
}

float Largest(std::span<const float> group) {
  float largest = 0;
  for (const float value : group) {
    if (!std::isnan(value)) largest = std::max(largest, std::fabs(value));
  }
  return largest;
}

// The power of two at or above `scale`, as an exponent.
int ExponentAtLeast(float scale) {
  if (std::isinf(scale)) return 127;
  int exponent = -127;
  while (std::ldexp(1.0, exponent) < scale) ++exponent;
  return exponent;
}

struct Shape {
  int heads = 1;
  int dim = 8;
  int block_tokens = 1;
};

struct Case {
  std::string name;
  PageFormat format;
  // Writes `row` of a page; source rows of the two parts, scales of this layer.
  std::function<void(Page page, int64_t row, const Row& first,
                     const Row& second, const float* scales)>
      tell;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name << " x " << c.format.block_tokens;
}

Case DenseBf16(Shape s) {
  return {
      "dense bf16", DenseBf16Pages(s.heads, s.dim, s.block_tokens),
      [s](Page page, int64_t row, const Row& k, const Row& v, const float*) {
        const int64_t width = int64_t{s.heads} * s.dim;
        for (int64_t i = 0; i < width; ++i) {
          const auto at = static_cast<size_t>(i);
          PutBf16(page, (row * width + i) * 2, k[at]);
          PutBf16(page, ((s.block_tokens + row) * width + i) * 2, v[at]);
        }
      }};
}

Case DenseFp8(Shape s) {
  return {"dense fp8", DenseFp8Pages(s.heads, s.dim, s.block_tokens),
          [s](Page page, int64_t row, const Row& k, const Row& v,
              const float* scales) {
            const int64_t width = int64_t{s.heads} * s.dim;
            for (int64_t i = 0; i < width; ++i) {
              const auto at = static_cast<size_t>(i);
              PutByte(page, row * width + i, Fp8(k[at] / scales[0]));
              PutByte(page, (s.block_tokens + row) * width + i,
                      Fp8(v[at] / scales[1]));
            }
          }};
}

Case PerTokenHead(Shape s, bool int8) {
  const ElementCode code = int8 ? ElementCode::kInt8 : ElementCode::kFp8;
  return {int8 ? "int8 per token head" : "fp8 per token head",
          PerTokenHeadPages(code, s.heads, s.dim, s.block_tokens),
          [s, int8](Page page, int64_t row, const Row& k, const Row& v,
                    const float*) {
            for (int half = 0; half < 2; ++half) {
              for (int head = 0; head < s.heads; ++head) {
                const std::span<const float> group(
                    (half == 0 ? k : v).data() + head * s.dim,
                    static_cast<size_t>(s.dim));
                const float scale =
                    std::max(Largest(group) / (int8 ? 127.0f : 448.0f), 1e-6f);
                int64_t at = ((half * s.block_tokens + row) * s.heads + head) *
                             (s.dim + 4);
                for (const float value : group) {
                  PutByte(page, at++,
                          int8 ? Int8(value / scale) : Fp8(value / scale));
                }
                PutFloat(page, at, scale);
              }
            }
          }};
}

Case LatentBf16(int latent, int rope, int block_tokens) {
  return {"latent bf16", LatentBf16Pages(latent, rope, block_tokens),
          [](Page page, int64_t row, const Row& first, const Row& second,
             const float*) {
            int64_t at =
                row * static_cast<int64_t>(first.size() + second.size()) * 2;
            for (const Row* part : {&first, &second}) {
              for (const float value : *part) {
                PutBf16(page, at, value);
                at += 2;
              }
            }
          }};
}

Case LatentFp8(int latent, int rope, int block_tokens) {
  return {"latent fp8", LatentFp8Pages(latent, rope, block_tokens),
          [](Page page, int64_t row, const Row& first, const Row& second,
             const float* scales) {
            int64_t at =
                row * static_cast<int64_t>(first.size() + second.size());
            for (const float x : first) PutByte(page, at++, Fp8(x / scales[0]));
            for (const float x : second) {
              PutByte(page, at++, Fp8(x / scales[1]));
            }
          }};
}

Case Fp8DsMla656(int block_tokens) {
  return {
      "fp8_ds_mla 656", Fp8DsMla656Pages(block_tokens),
      [](Page page, int64_t row, const Row& latent, const Row& rope,
         const float*) {
        for (int tile = 0; tile < 4; ++tile) {
          const std::span<const float> group(latent.data() + tile * 128, 128);
          const float scale = std::max(Largest(group) / 448.0f,
                                       std::numeric_limits<float>::min());
          for (int i = 0; i < 128; ++i) {
            PutByte(page, row * 656 + tile * 128 + i,
                    Fp8(group[static_cast<size_t>(i)] / scale));
          }
          PutFloat(page, row * 656 + 512 + tile * 4, scale);
        }
        for (int i = 0; i < 64; ++i) {
          PutBf16(page, row * 656 + 528 + i * 2, rope[static_cast<size_t>(i)]);
        }
      }};
}

Case Fp8DsMla584(int block_tokens) {
  return {
      "fp8_ds_mla 584", Fp8DsMla584Pages(block_tokens),
      [block_tokens](Page page, int64_t row, const Row& latent, const Row& rope,
                     const float*) {
        for (int tile = 0; tile < 7; ++tile) {
          const std::span<const float> group(latent.data() + tile * 64, 64);
          const int exponent =
              ExponentAtLeast(std::max(Largest(group), 1e-4f) / 448.0f);
          for (int i = 0; i < 64; ++i) {
            PutByte(page, row * 576 + tile * 64 + i,
                    Fp8(std::ldexp(group[static_cast<size_t>(i)], -exponent)));
          }
          PutByte(page, block_tokens * 576 + row * 8 + tile, exponent + 127);
        }
        for (int i = 0; i < 64; ++i) {
          PutBf16(page, row * 576 + 448 + i * 2, rope[static_cast<size_t>(i)]);
        }
      }};
}

Case IndexKey(int dim, int block_tokens, bool power_of_two) {
  return {
      "index key", IndexKeyPages(dim, block_tokens, power_of_two),
      [=](Page page, int64_t row, const Row& key, const Row&, const float*) {
        float scale = std::max(Largest(key), 1e-4f) / 448.0f;
        if (power_of_two) scale = std::ldexp(1.0f, ExponentAtLeast(scale));
        for (int i = 0; i < dim; ++i) {
          PutByte(page, row * dim + i,
                  Fp8(key[static_cast<size_t>(i)] / scale));
        }
        PutFloat(page, int64_t{block_tokens} * dim + row * 4, scale);
      }};
}

// Rows of any number of bytes.
Case Raw(int row_bytes, int block_tokens) {
  return {"raw", RawPages(row_bytes, block_tokens),
          [row_bytes](Page page, int64_t row, const Row& bytes, const Row&,
                      const float*) {
            for (int i = 0; i < row_bytes; ++i) {
              PutByte(page, row * row_bytes + i,
                      static_cast<int>(bytes[static_cast<size_t>(i)]));
            }
          }};
}

// --- the world of one write ----------------------------------------------------

struct Layout {
  int32_t num_layers = 1;
  int32_t num_blocks = 1;
  int64_t block_padding = 0;
  int64_t token_padding = 0;
  int64_t page_misalignment = 0;
  int64_t source_misalignment = 0;  // even
};

// A bf16 number: mostly ordinary, now and then what breaks arithmetic.
uint16_t RandomBf16(RandomStream& random) {
  constexpr uint16_t kSpecial[] = {0x0000, 0x8000, 0x7f80, 0xff80,
                                   0x7fc0, 0xffc1, 0x0001, 0x7f7f};
  if (random.Below(400) == 0) return kSpecial[random.Below(8)];
  const uint64_t exponent = 117 + random.Below(14);  // from 2^-10 to 2^3
  return static_cast<uint16_t>((random.Next() & 0x807f) | exponent << 7);
}

// Source rows of one part in every layer, as memory and as numbers.
class Source {
 public:
  Source(const PagePart& part, const Layout& layout, int64_t num_tokens,
         RandomStream& random)
      : raw_(part.code == ElementCode::kRaw),
        width_(int64_t{part.groups} * part.group_elements),
        stride_(part.SourceRowBytes() + layout.token_padding) {
    for (int32_t layer = 0; layer < layout.num_layers; ++layer) {
      buffers_.push_back(std::make_unique<GuardedBuffer>(
          std::max<int64_t>(num_tokens * stride_, 1),
          layout.source_misalignment));
      pointers_.push_back(buffers_.back()->data());
      scales_.push_back(0.25f + 0.5f * static_cast<float>(random.Below(9)));
      for (int64_t token = 0; token < num_tokens; ++token) {
        Fill(buffers_.back()->data() + token * stride_, random);
      }
    }
  }

  RowSource Args() const { return {pointers_.data(), stride_, scales_.data()}; }
  Row Numbers(int32_t layer, int64_t token) const {
    const std::byte* from =
        pointers_[static_cast<size_t>(layer)] + token * stride_;
    Row row;
    for (int64_t i = 0; i < width_; ++i) {
      uint16_t code;
      if (raw_) {
        row.push_back(static_cast<float>(from[i]));
      } else {
        std::memcpy(&code, from + 2 * i, sizeof(code));
        row.push_back(DecodeBf16(code));
      }
    }
    return row;
  }
  float scale(int32_t layer) const {
    return scales_[static_cast<size_t>(layer)];
  }

 private:
  void Fill(std::byte* row, RandomStream& random) const {
    for (int64_t i = 0; i < width_; ++i) {
      if (raw_) {
        row[i] = static_cast<std::byte>(random.Below(256));
      } else {
        const uint16_t code = RandomBf16(random);
        std::memcpy(row + 2 * i, &code, sizeof(code));
      }
    }
  }

  bool raw_;
  int64_t width_;
  int64_t stride_;
  std::vector<std::unique_ptr<GuardedBuffer>> buffers_;
  std::vector<std::byte*> pointers_;
  std::vector<float> scales_;
};

// `num_tokens` distinct slots in a random order, some of them none.
std::vector<int64_t> RandomSlots(int64_t num_tokens, int64_t num_slots,
                                 RandomStream& random) {
  std::vector<int64_t> slots;
  for (int64_t s = 0; s < std::max(num_slots, num_tokens); ++s) {
    slots.push_back(s < num_slots ? s : kNoSlot);
  }
  random.Shuffle(std::span(slots));
  slots.resize(static_cast<size_t>(num_tokens));
  for (int64_t& slot : slots) {
    if (random.Below(5) == 0) slot = kNoSlot;
  }
  return slots;
}

class World {
 public:
  World(const Case& c, const Layout& layout, int64_t num_tokens,
        RandomStream& random)
      : case_(c),
        slots_(RandomSlots(num_tokens,
                           int64_t{layout.num_blocks} * c.format.block_tokens,
                           random)) {
    args_.format = c.format;
    args_.num_tokens = num_tokens;
    args_.slots = slots_.data();
    args_.pages.num_layers = layout.num_layers;
    args_.pages.num_blocks = layout.num_blocks;
    args_.pages.block_tokens = c.format.block_tokens;
    args_.pages.block_stride = c.format.PageBytes() + layout.block_padding;
    for (int p = 0; p < c.format.num_parts; ++p) {
      sources_.push_back(std::make_unique<Source>(c.format.parts[p], layout,
                                                  num_tokens, random));
      args_.sources[p] = sources_.back()->Args();
    }
    for (int32_t layer = 0; layer < layout.num_layers; ++layer) {
      pages_.push_back(std::make_unique<GuardedBuffer>(
          layout.num_blocks * args_.pages.block_stride,
          layout.page_misalignment));
      pointers_.push_back(pages_.back()->data());
    }
    args_.pages.layers = pointers_.data();
  }

  const WriteTokensArgs& args() const { return args_; }
  const std::vector<int64_t>& slots() const { return slots_; }
  Row Numbers(int part, int32_t layer, int64_t token) const {
    return sources_[static_cast<size_t>(part)]->Numbers(layer, token);
  }

  // Writes, and compares every byte of every layer with the telling.
  testing::AssertionResult WritesAsTold() {
    const std::vector<Bytes> expected = Told();
    const LaunchStatus status = WriteTokensOnHost(args_);
    if (!status.ok()) return testing::AssertionFailure() << status.message;
    for (size_t layer = 0; layer < pages_.size(); ++layer) {
      const Bytes found = Contents(layer);
      if (found == expected[layer]) continue;
      const auto at =
          std::mismatch(found.begin(), found.end(), expected[layer].begin());
      return testing::AssertionFailure()
             << "layer " << layer << ", byte " << at.first - found.begin()
             << ": " << static_cast<int>(*at.first) << ", not "
             << static_cast<int>(*at.second);
    }
    return testing::AssertionSuccess();
  }

 private:
  Bytes Contents(size_t layer) {
    const std::span<std::byte> bytes = pages_[layer]->bytes();
    return {bytes.begin(), bytes.end()};
  }

  std::vector<Bytes> Told() {
    std::vector<Bytes> layers;
    for (size_t layer = 0; layer < pages_.size(); ++layer) {
      layers.push_back(Contents(layer));
      for (size_t token = 0; token < slots_.size(); ++token) {
        if (slots_[token] < 0) continue;
        TellToken(layers.back(), static_cast<int32_t>(layer),
                  static_cast<int64_t>(token));
      }
    }
    return layers;
  }

  void TellToken(Bytes& memory, int32_t layer, int64_t token) {
    const int64_t slot = slots_[static_cast<size_t>(token)];
    const int64_t begin =
        slot / case_.format.block_tokens * args_.pages.block_stride;
    const Page page =
        Page(memory).subspan(static_cast<size_t>(begin),
                             static_cast<size_t>(case_.format.PageBytes()));
    Row rows[2];
    float scales[2] = {};
    for (size_t p = 0; p < sources_.size(); ++p) {
      rows[p] = sources_[p]->Numbers(layer, token);
      scales[p] = sources_[p]->scale(layer);
    }
    case_.tell(page, slot % case_.format.block_tokens, rows[0], rows[1],
               scales);
  }

  Case case_;
  std::vector<int64_t> slots_;
  WriteTokensArgs args_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<std::unique_ptr<GuardedBuffer>> pages_;
  std::vector<std::byte*> pointers_;
};

// --- tests ---------------------------------------------------------------------

std::vector<Case> CasesOf(const Shape& s) {
  std::vector<Case> cases = {DenseBf16(s),
                             DenseFp8(s),
                             PerTokenHead(s, false),
                             PerTokenHead(s, true),
                             LatentBf16(s.heads * s.dim, s.dim, s.block_tokens),
                             LatentFp8(s.dim, s.heads * s.dim, s.block_tokens),
                             IndexKey(s.dim, s.block_tokens, false),
                             IndexKey(s.dim, s.block_tokens, true)};
  for (int row_bytes = 1; row_bytes < 40; row_bytes += s.heads + 1) {
    cases.push_back(Raw(s.dim + row_bytes, s.block_tokens));
  }
  return cases;
}

TEST(WriteTokensTest, EveryFormatAsTold) {
  RandomStream random(1, "write tokens");
  for (const int heads : {1, 2, 3}) {
    for (const int dim : {8, 12, 16, 24, 40, 64, 128}) {
      for (const int block_tokens : {1, 2, 3, 16}) {
        for (const Case& c : CasesOf({heads, dim, block_tokens})) {
          for (const int64_t tokens : {0, 1, 5, 40}) {
            const Layout layout = {
                .num_layers = static_cast<int32_t>(1 + random.Below(3)),
                .num_blocks = static_cast<int32_t>(1 + random.Below(20)),
                .block_padding = static_cast<int64_t>(random.Below(3)) * 16,
                .token_padding = static_cast<int64_t>(random.Below(3)) * 2,
                .page_misalignment = static_cast<int64_t>(random.Below(20)),
                .source_misalignment =
                    static_cast<int64_t>(random.Below(9)) * 2};
            ASSERT_TRUE(World(c, layout, tokens, random).WritesAsTold())
                << testing::PrintToString(c) << ", " << heads << " heads of "
                << dim << ", " << tokens << " tokens";
          }
        }
      }
    }
  }
}

TEST(WriteTokensTest, FixedRowsAsTold) {
  RandomStream random(2, "write tokens");
  for (const int block_tokens : {1, 2, 5, 16, 64}) {
    for (const Case& c :
         {Fp8DsMla656(block_tokens), Fp8DsMla584(block_tokens),
          IndexKey(128, block_tokens, false), IndexKey(128, block_tokens, true),
          LatentBf16(512, 64, block_tokens),
          LatentFp8(512, 64, block_tokens)}) {
      for (const int64_t tokens : {1, 17, 40}) {
        const Layout layout = {
            .num_layers = 2,
            .num_blocks = static_cast<int32_t>(64 / block_tokens + 1),
            .block_padding =
                c.format.PaddedPageBytes(576) - c.format.PageBytes(),
            .page_misalignment = static_cast<int64_t>(random.Below(20))};
        ASSERT_TRUE(World(c, layout, tokens, random).WritesAsTold())
            << testing::PrintToString(c) << ", " << tokens << " tokens";
      }
    }
  }
}

TEST(WriteTokensTest, LargeBatchesAsTold) {
  RandomStream random(3, "write tokens");
  for (const Case& c :
       {DenseBf16({8, 128, 16}), PerTokenHead({8, 128, 16}, false),
        Fp8DsMla656(64), Fp8DsMla584(64), Raw(1000, 16)}) {
    const Layout layout = {.num_layers = 2, .num_blocks = 40};
    ASSERT_TRUE(World(c, layout, 500, random).WritesAsTold())
        << testing::PrintToString(c);
  }
}

float ScaleIn(const PagePart& part, const std::byte* page, int64_t row,
              int64_t group) {
  const std::byte* at = page + part.ScaleOffset(row, group);
  if (part.scale_place == ScalePlace::kUe8m0) {
    return DecodeUe8m0(static_cast<uint8_t>(*at));
  }
  float scale;
  std::memcpy(&scale, at, sizeof(scale));
  return scale;
}

// An fp8 number has three bits behind its first one, so it is off by a sixteenth of
// itself at most, or by half of the smallest step, 2^-10; int8 by half a step. The
// quotient that is rounded is a float, itself off by 2^-24.
void ExpectCloseNumbers(const PagePart& part, const std::byte* page,
                        int64_t row, const Row& numbers) {
  for (int64_t group = 0; group < part.groups; ++group) {
    const float scale = ScaleIn(part, page, row, group);
    const std::byte* codes = page + part.ElementOffset(row, group);
    for (int32_t i = 0; i < part.group_elements; ++i) {
      const double number =
          numbers[static_cast<size_t>(group * part.group_elements + i)];
      const auto code = static_cast<uint8_t>(codes[i]);
      const bool int8 = part.code == ElementCode::kInt8;
      const double stored =
          double{scale} * (int8 ? DecodeInt8(code) : DecodeFp8(code));
      const double bound = int8 ? 0.5 * scale
                                : std::max(std::fabs(number) / 16,
                                           std::ldexp(double{scale}, -10));
      ASSERT_LE(std::fabs(stored - number),
                bound + std::ldexp(std::fabs(number), -23))
          << number;
    }
  }
}

TEST(WriteTokensTest, StoredNumbersAreClose) {
  RandomStream random(4, "write tokens");
  for (const Case& c :
       {PerTokenHead({3, 64, 16}, false), PerTokenHead({3, 64, 16}, true),
        Fp8DsMla656(16), Fp8DsMla584(16), IndexKey(128, 16, false),
        IndexKey(128, 16, true)}) {
    World world(c, {.num_layers = 1, .num_blocks = 8}, 100, random);
    ASSERT_TRUE(WriteTokensOnHost(world.args()).ok());
    const PagePart& part = c.format.parts[0];
    for (int64_t token = 0; token < 100; ++token) {
      const int64_t slot = world.slots()[static_cast<size_t>(token)];
      const Row numbers = world.Numbers(0, 0, token);
      const bool ordinary = std::all_of(
          numbers.begin(), numbers.end(),
          [](float x) { return std::isfinite(x) && std::fabs(x) < 1e30; });
      if (slot < 0 || !ordinary) continue;
      const PageRow at = RowOfSlot(slot, 16);
      ExpectCloseNumbers(part, world.args().pages.Page(0, at.page), at.row,
                         numbers);
    }
  }
}

// A group of zeros gets the floor of its scale and codes of zero.
TEST(WriteTokensTest, ZerosHaveAScale) {
  const std::vector<std::byte> zeros(1024, std::byte{0});
  const std::byte* source = zeros.data();
  const int64_t slot = 0;
  for (const PageFormat& format :
       {Fp8DsMla656Pages(1), IndexKeyPages(128, 1),
        PerTokenHeadPages(ElementCode::kInt8, 1, 8, 1)}) {
    GuardedBuffer page(format.PageBytes());
    std::byte* pages = page.data();
    WriteTokensArgs args;
    args.pages = {&pages, 1, 1, 1, format.PageBytes()};
    args.format = format;
    args.sources[0] = args.sources[1] = {&source, 1024};
    args.slots = &slot;
    args.num_tokens = 1;
    ASSERT_TRUE(WriteTokensOnHost(args).ok());
    const PagePart& part = format.parts[0];
    EXPECT_EQ(ScaleIn(part, pages, 0, 0),
              format.row_bytes == 656   ? std::numeric_limits<float>::min()
              : format.row_bytes == 132 ? 1e-4f / 448.0f
                                        : 1e-6f);
    EXPECT_EQ(pages[part.ElementOffset(0, 0)], std::byte{0});
  }
}

// Offsets that pass 2^31: of slots, of pages in a layer, of rows in a source.
TEST(WriteTokensTest, LargeOffsets) {
  const PageRow at = RowOfSlot(int64_t{3'000'000'000} * 64 + 63, 64);
  EXPECT_EQ(at.page, 3'000'000'000);
  EXPECT_EQ(at.row, 63);
  std::byte* const base = reinterpret_cast<std::byte*>(uintptr_t{4096});
  const auto offset = [](const std::byte* address) {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(address)) - 4096;
  };
  const PagedLayers pages = {&base, 1, 1 << 30, 64, 37'440};
  EXPECT_EQ(offset(pages.Page(0, 1 << 29)), (int64_t{1} << 29) * 37'440);
  const std::byte* const source_base = base;
  const RowSource source = {&source_base, 1 << 20};
  EXPECT_EQ(offset(source.Row(0, 1 << 20)), int64_t{1} << 40);
}

// --- refusals ------------------------------------------------------------------

class WriteTokensRefusalTest : public testing::Test {
 protected:
  WriteTokensRefusalTest() {
    args_.pages = {&layer_, 1, 1, 2, 64};
    args_.format = DenseBf16Pages(1, 8, 2);
    args_.sources[0] = args_.sources[1] = {&source_, 16};
    args_.slots = &slot_;
    args_.num_tokens = 1;
  }
  std::string Refusal() const { return WriteTokensOnHost(args_).message; }

  std::byte page_[64] = {};
  std::byte row_[16] = {};
  std::byte* layer_ = page_;
  const std::byte* source_ = row_;
  int64_t slot_ = 0;
  WriteTokensArgs args_;
};

TEST_F(WriteTokensRefusalTest, TakesWhatIsRight) { EXPECT_EQ(Refusal(), ""); }

TEST_F(WriteTokensRefusalTest, Counts) {
  args_.num_tokens = -1;
  EXPECT_EQ(Refusal(), "num_tokens is negative");
  args_.num_tokens = 1;
  args_.pages.num_layers = -1;
  EXPECT_EQ(Refusal(), "pages.num_layers is negative");
  args_.pages.num_layers = 1;
  args_.pages.block_tokens = 0;
  EXPECT_EQ(Refusal(), "pages.block_tokens must be positive");
  args_.pages.block_tokens = 3;
  EXPECT_EQ(Refusal(), "format.block_tokens differs from pages.block_tokens");
  args_.pages.block_tokens = 2;
  args_.pages.block_stride = 63;
  EXPECT_EQ(Refusal(), "pages.block_stride is less than the format's page");
}

TEST_F(WriteTokensRefusalTest, Formats) {
  args_.format.num_parts = 3;
  EXPECT_EQ(Refusal(), "format.num_parts must be 1 or 2");
  args_.format.num_parts = 2;
  args_.format.parts[1].groups = 0;
  EXPECT_EQ(Refusal(), "a part of format has no elements");
  args_.format.parts[1].groups = 1;
  args_.format.parts[1].scale_place = ScalePlace::kLayer;
  EXPECT_EQ(Refusal(),
            "fp8 and int8 parts of format have scales, and no others");
  args_.format = DenseBf16Pages(2, 4, 2);
  args_.format.parts[0].group_stride = 10;
  EXPECT_EQ(Refusal(),
            "bf16 and raw parts of format have no gaps inside a row");
  args_.format = RawPages(1 << 30, 2);
  args_.format.parts[0].groups = 2;
  EXPECT_EQ(Refusal(), "a part of format has rows of 2^31 bytes or more");
}

TEST_F(WriteTokensRefusalTest, Pointers) {
  args_.sources[1].layers = nullptr;
  EXPECT_EQ(Refusal(), "sources[].layers is null");
  args_.sources[1] = {&source_, 15};
  EXPECT_EQ(Refusal(), "sources[].token_stride is less than a row");
  args_.sources[1] = {&source_, 16};
  args_.slots = nullptr;
  EXPECT_EQ(Refusal(), "slots is null");
  args_.slots = &slot_;
  args_.format = DenseFp8Pages(1, 8, 2);
  EXPECT_EQ(Refusal(), "sources[].scales is null");
  args_.sources[0].token_stride = 17;
  EXPECT_EQ(Refusal(),
            "sources[].token_stride of fp8 and int8 parts must be even");
  args_.num_tokens = 0;
  EXPECT_EQ(Refusal(), "");
}

}  // namespace
}  // namespace kvsim
