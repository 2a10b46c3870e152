#include "kernels/gather_sequence.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "base/random.h"
#include "kernels/gather_batch.h"
#include "kernels/guarded_buffer.h"
#include "kernels/paged_buffer.h"

namespace kvsim {
namespace {

struct Rows {
  int64_t offset = 0;
  int64_t stride = 0;
  int64_t bytes = 0;
};

// What the warps of a device would copy, one unit after another.
LaunchStatus GatherUnitByUnit(const GatherSequenceArgs& args) {
  for (int64_t i = 0; i < args.pages.num_layers * args.LayerUnits(); ++i) {
    int64_t bytes = 0;
    args.CopyUnit(i, [&](const ByteRange& range) {
      std::memcpy(range.to, range.from, static_cast<size_t>(range.bytes));
      bytes += range.bytes;
    });
    EXPECT_LE(bytes, kCopyPiece);
  }
  return LaunchStatus::Ok();
}

// Deals the positions of one sequence to the ranks one by one, and checks that the
// output holds this rank's rows in their order. Returns how many.
int64_t CheckSequence(const GatherBatch& batch, size_t s, const Rows& rows,
                      const std::vector<std::byte>& layer, int64_t block_stride,
                      const std::byte* out) {
  int64_t gathered = 0;
  int64_t own = 0;
  for (int64_t p = 0; p < batch.ends[s]; ++p) {
    const int64_t rank = p / batch.share.interleave % batch.share.ranks;
    if (rank != batch.share.rank) continue;
    const int64_t row = own++;
    if (p < batch.firsts[s]) continue;
    const BlockId page =
        batch.tables[s * static_cast<size_t>(batch.table_stride) +
                     static_cast<size_t>(row / batch.share.block_tokens)];
    const int64_t from = page * block_stride + rows.offset +
                         row % batch.share.block_tokens * rows.stride;
    if (std::memcmp(out + gathered * rows.bytes, layer.data() + from,
                    static_cast<size_t>(rows.bytes)) != 0) {
      ADD_FAILURE() << "sequence " << s << ", position " << p;
      return gathered;
    }
    ++gathered;
  }
  return gathered;
}

void GatherAndCheck(const GatherBatch& batch, const PagedBuffer::Shape& shape,
                    const Rows& rows, int64_t out_misalignment) {
  RandomStream random(1, "gather sequence");
  PagedBuffer pages(shape);
  pages.Fill(random);
  const auto contents = pages.Contents();
  for (const auto gather : {GatherSequenceOnHost, GatherUnitByUnit}) {
    GatherSequenceArgs args = batch.Args();
    args.pages = pages.pages();
    args.row_offset = rows.offset;
    args.row_stride = rows.stride;
    args.row_bytes = rows.bytes;
    GuardedBuffer output(shape.num_layers * args.out_rows * rows.bytes,
                         out_misalignment);
    args.output = output.data();
    ASSERT_TRUE(gather(args).ok());
    int64_t row = 0;
    for (const auto& layer : contents) {
      const int64_t layer_row = row;
      for (size_t s = 0; s < batch.firsts.size(); ++s) {
        row = layer_row + batch.out_starts[s];
        const int64_t gathered =
            CheckSequence(batch, s, rows, layer, shape.block_stride,
                          output.data() + row * rows.bytes);
        const int64_t end = layer_row + batch.out_starts[s + 1];
        EXPECT_TRUE(output.Untouched((row + gathered) * rows.bytes,
                                     (end - row - gathered) * rows.bytes));
        row = end;
      }
    }
    EXPECT_EQ(pages.Contents(), contents);
    if (testing::Test::HasFailure()) return;
  }
}

// One sequence of up to 13 positions, any part of it, dealt in every way.
TEST(GatherSequenceTest, AllSmallSequences) {
  for (const int32_t block_tokens : {1, 2, 4}) {
    for (const int32_t ranks : {1, 2, 3}) {
      for (const int32_t interleave : {1, 2, 4}) {
        if (block_tokens % interleave != 0) continue;
        for (int64_t code = 0; code < ranks * 14 * 14; ++code) {
          const int64_t first = code / 14 % 14;
          const int64_t end = code % 14;
          if (first > end) continue;
          RandomStream random(code, "small sequences");
          GatherBatch batch;
          batch.share = {block_tokens, ranks,
                         static_cast<int32_t>(code / (14 * 14)), interleave};
          batch.table_stride = 14;
          batch.Add(first, end, 1, 5, random);
          GatherAndCheck(batch,
                         {.num_layers = 2,
                          .num_blocks = 5,
                          .block_tokens = block_tokens,
                          .block_stride = block_tokens * 6},
                         {0, 6, 6}, 0);
          if (HasFailure()) FAIL() << "code " << code;
        }
      }
    }
  }
}

// Batches with empty sequences and unused rows between them; parts at an offset and
// with a stride; sizes from a byte to more than a warp's piece.
TEST(GatherSequenceTest, RandomBatches) {
  RandomStream random(2, "gather sequence");
  constexpr int64_t kRowBytes[] = {1,   3,    16,   132,  576,
                                   656, 2048, 4096, 4097, 12'345};
  for (int round = 0; round < 200; ++round) {
    const auto interleave = static_cast<int32_t>(random.Between(1, 3));
    const auto ranks = static_cast<int32_t>(random.Between(1, 5));
    GatherBatch batch;
    batch.share = {static_cast<int32_t>(interleave * random.Between(1, 8)),
                   ranks, static_cast<int32_t>(random.Between(0, ranks - 1)),
                   interleave};
    batch.table_stride = 100 / batch.share.ManagerTokens() + 1;
    constexpr int32_t kBlocks = 30;
    for (int64_t s = random.Between(0, 12); s > 0; --s) {
      const int64_t end = random.Between(0, 100);
      batch.Add(random.Between(0, end), end,
                random.Chance(0.7) ? 0 : random.Between(1, 9), kBlocks, random);
    }
    Rows rows;
    rows.bytes = kRowBytes[random.Below(std::size(kRowBytes))];
    rows.stride = rows.bytes + (random.Chance(0.5) ? 0 : random.Between(1, 40));
    rows.offset = random.Chance(0.5) ? 0 : random.Between(1, 40);
    const PagedBuffer::Shape shape = {
        .num_layers = static_cast<int32_t>(random.Between(1, 2)),
        .num_blocks = kBlocks,
        .block_tokens = batch.share.block_tokens,
        .block_stride = rows.offset + batch.share.block_tokens * rows.stride +
                        random.Between(0, 8),
        .misalignment = random.Between(0, 63)};
    GatherAndCheck(batch, shape, rows, random.Between(0, 63));
    if (HasFailure()) FAIL() << "round " << round;
  }
}

// 18 MiB: past the caches, where stores bypass them.
TEST(GatherSequenceTest, MoreThanTheCaches) {
  RandomStream random(3, "gather sequence");
  GatherBatch batch;
  batch.share = {.block_tokens = 16};
  batch.table_stride = 600;
  batch.Add(5, 9'000, 0, 700, random);
  static_assert(int64_t{2} * 8'995 * 1'152 > int64_t{18} << 20);
  GatherAndCheck(batch,
                 {.num_layers = 2,
                  .num_blocks = 700,
                  .block_tokens = 16,
                  .block_stride = 16 * 1'152},
                 {0, 1'152, 1'152}, 8);
}

// Blocks of 4 rows, two ranks taking turns of 2: rank 1 owns positions 2, 3, 6, 7,
// 10 …; of [3, 11) that is 3, 6, 7, 10, its rows 1 to 4: rows 1, 2, 3 of the first
// page and row 0 of the second.
TEST(GatherSequenceTest, ByHand) {
  std::vector<std::byte> memory(12);
  for (size_t i = 0; i < 12; ++i) memory[i] = static_cast<std::byte>(i);
  std::byte* layer = memory.data();
  const std::vector<BlockId> table = {2, 0};
  const int64_t first = 3;
  const int64_t end = 11;
  const std::vector<int64_t> out_starts = {0, 4};
  std::vector<std::byte> output(4);
  GatherSequenceArgs args;
  args.pages = {&layer, 1, 3, 4, 4};
  args.share = {.block_tokens = 4, .ranks = 2, .rank = 1, .interleave = 2};
  args.row_stride = args.row_bytes = 1;
  args.block_tables = table.data();
  args.num_sequences = 1;
  args.table_stride = 2;
  args.first_positions = &first;
  args.end_positions = &end;
  args.out_starts = out_starts.data();
  args.output = output.data();
  args.out_rows = 4;
  ASSERT_TRUE(GatherSequenceOnHost(args).ok());
  EXPECT_EQ(output, (std::vector<std::byte>{std::byte{9}, std::byte{10},
                                            std::byte{11}, std::byte{0}}));
}

std::string Refusal(const GatherSequenceArgs& args) {
  return GatherSequenceOnHost(args).message;
}

TEST(GatherSequenceTest, RefusesWhatItCanSee) {
  GatherSequenceArgs args;
  EXPECT_EQ(Refusal(args), "share.block_tokens must be positive");
  args.share.block_tokens = 16;
  EXPECT_EQ(Refusal(args), "pages.block_tokens must be share.block_tokens");
  args.pages.block_tokens = 16;
  args.out_rows = -1;
  EXPECT_EQ(Refusal(args), "a count is negative");
  args.out_rows = 0;
  args.row_stride = 7;
  args.row_bytes = 8;
  EXPECT_EQ(Refusal(args),
            "row_stride must be at least row_bytes, which must be positive");
  args.row_stride = 8;
  args.pages.block_stride = 127;
  EXPECT_EQ(Refusal(args), "rows reach outside pages.block_stride");
  args.pages.block_stride = 128;
  EXPECT_EQ(Refusal(args), "");
}

}  // namespace
}  // namespace kvsim
