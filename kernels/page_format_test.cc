#include "kernels/page_format.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

namespace kvsim {
namespace {

// Bytes a token and a page take, as vLLM's specs (2026-08-17) give them.
TEST(PageFormatTest, TakesTheBytesOfTheEnginesSpecs) {
  // heads · 2 · dim · 2; fp8 half of it; per token head 8 bytes more a head.
  EXPECT_EQ(DenseBf16Pages(8, 128, 16).row_bytes, 4096);
  EXPECT_EQ(DenseBf16Pages(8, 128, 16).PageBytes(), 65536);
  EXPECT_EQ(DenseFp8Pages(8, 128, 16).row_bytes, 2048);
  EXPECT_EQ(PerTokenHeadPages(ElementCode::kFp8, 8, 128, 16).row_bytes, 2112);
  EXPECT_EQ(PerTokenHeadPages(ElementCode::kInt8, 8, 128, 16).row_bytes, 2112);
  EXPECT_EQ(LatentBf16Pages(512, 64, 64).row_bytes, 1152);
  EXPECT_EQ(LatentBf16Pages(512, 64, 64).PageBytes(), 73'728);
  EXPECT_EQ(LatentFp8Pages(512, 64, 64).row_bytes, 576);
  EXPECT_EQ(LatentFp8Pages(512, 64, 64).PageBytes(), 36'864);
  EXPECT_EQ(Fp8DsMla656Pages(64).row_bytes, 656);
  EXPECT_EQ(Fp8DsMla656Pages(64).PageBytes(), 41'984);
  EXPECT_EQ(IndexKeyPages(128, 64).row_bytes, 132);
  EXPECT_EQ(IndexKeyPages(128, 64).PageBytes(), 8448);
  EXPECT_EQ(IndexKeyPages(128, 64).PaddedPageBytes(576), 8640);
  EXPECT_EQ(Fp8DsMla584Pages(64).row_bytes, 584);
  EXPECT_EQ(Fp8DsMla584Pages(64).PageBytes(), 37'376);
  EXPECT_EQ(Fp8DsMla584Pages(64).PaddedPageBytes(576), 37'440);
  EXPECT_EQ(Fp8DsMla584Pages(2).PageBytes(), 1168);
  EXPECT_EQ(Fp8DsMla584Pages(2).PaddedPageBytes(576), 1728);
  EXPECT_EQ(RawPages(1000, 16).PageBytes(), 16'000);
}

TEST(PageFormatTest, OffsetsByHand) {
  // 2 heads of 16, 4 rows: K rows of 64 bytes, V from 256 on.
  const PageFormat dense = DenseBf16Pages(2, 16, 4);
  EXPECT_EQ(dense.parts[0].ElementOffset(3, 1), 3 * 64 + 32);
  EXPECT_EQ(dense.parts[1].ElementOffset(3, 1), 256 + 3 * 64 + 32);
  // Heads of 16 codes and a scale: rows of 40 bytes, V from 160 on.
  const PageFormat heads = PerTokenHeadPages(ElementCode::kInt8, 2, 16, 4);
  EXPECT_EQ(heads.parts[0].ElementOffset(3, 1), 3 * 40 + 20);
  EXPECT_EQ(heads.parts[0].ScaleOffset(3, 1), 3 * 40 + 20 + 16);
  EXPECT_EQ(heads.parts[1].ScaleOffset(0, 0), 160 + 16);
  const PageFormat latent = LatentBf16Pages(512, 64, 64);
  EXPECT_EQ(latent.parts[1].ElementOffset(2, 0), 2 * 1152 + 1024);
  const PageFormat tiles = Fp8DsMla656Pages(64);
  EXPECT_EQ(tiles.parts[0].ElementOffset(2, 3), 2 * 656 + 384);
  EXPECT_EQ(tiles.parts[0].ScaleOffset(2, 3), 2 * 656 + 512 + 12);
  EXPECT_EQ(tiles.parts[1].ElementOffset(2, 0), 2 * 656 + 528);
  const PageFormat index = IndexKeyPages(128, 64);
  EXPECT_EQ(index.parts[0].ElementOffset(63, 0), 63 * 128);
  EXPECT_EQ(index.parts[0].ScaleOffset(63, 0), 64 * 128 + 63 * 4);
  const PageFormat split = Fp8DsMla584Pages(64);
  EXPECT_EQ(split.parts[0].ElementOffset(63, 6), 63 * 576 + 384);
  EXPECT_EQ(split.parts[1].ElementOffset(63, 0), 63 * 576 + 448);
  EXPECT_EQ(split.parts[0].ScaleOffset(63, 6), 64 * 576 + 63 * 8 + 6);
}

std::vector<PageFormat> AllFormats(int32_t block_tokens) {
  return {RawPages(17, block_tokens),
          DenseBf16Pages(3, 24, block_tokens),
          DenseFp8Pages(3, 24, block_tokens),
          PerTokenHeadPages(ElementCode::kFp8, 3, 24, block_tokens),
          PerTokenHeadPages(ElementCode::kInt8, 1, 8, block_tokens),
          LatentBf16Pages(512, 64, block_tokens),
          LatentFp8Pages(512, 64, block_tokens),
          Fp8DsMla656Pages(block_tokens),
          Fp8DsMla584Pages(block_tokens),
          IndexKeyPages(128, block_tokens)};
}

// Elements and scales of all rows are disjoint, lie in the page and fill it, but for
// the unused byte of the 584-byte row.
TEST(PageFormatTest, RowsFillThePage) {
  for (const int32_t block_tokens : {1, 2, 7, 64}) {
    for (const PageFormat& format : AllFormats(block_tokens)) {
      std::vector<int> owners(static_cast<size_t>(format.PageBytes()), 0);
      const auto own = [&](int64_t begin, int64_t bytes) {
        for (int64_t i = begin; i < begin + bytes; ++i) {
          ++owners.at(static_cast<size_t>(i));
        }
      };
      for (int p = 0; p < format.num_parts; ++p) {
        const PagePart& part = format.parts[p];
        for (int64_t row = 0; row < block_tokens; ++row) {
          for (int64_t group = 0; group < part.groups; ++group) {
            own(part.ElementOffset(row, group), part.StoredGroupBytes());
            own(part.ScaleOffset(row, group), part.ScaleBytes());
          }
        }
      }
      std::map<int, int64_t> bytes;
      for (const int owner : owners) ++bytes[owner];
      const int64_t unused = format.row_bytes == 584 ? block_tokens : 0;
      EXPECT_EQ(bytes[0], unused) << format.row_bytes;
      EXPECT_EQ(bytes[1], format.PageBytes() - unused) << format.row_bytes;
    }
  }
}

// Offsets inside a page may pass 2^31, too.
TEST(PageFormatTest, LargePages) {
  const PageFormat raw = RawPages(1 << 20, 1 << 13);
  EXPECT_EQ(raw.PageBytes(), int64_t{1} << 33);
  EXPECT_EQ(raw.parts[0].ElementOffset(8191, 0), int64_t{8191} << 20);
  const PageFormat index = IndexKeyPages(1 << 20, 1 << 13);
  EXPECT_EQ(index.parts[0].ScaleOffset(1, 0), (int64_t{1} << 33) + 4);
  const PageFormat dense = DenseBf16Pages(1 << 10, 1 << 10, 1 << 13);
  EXPECT_EQ(dense.parts[1].ElementOffset(0, 1), (int64_t{1} << 34) + 2048);
}

}  // namespace
}  // namespace kvsim
