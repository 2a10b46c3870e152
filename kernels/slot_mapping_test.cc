#include "kernels/slot_mapping.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "kernels/guarded_buffer.h"

namespace kvsim {
namespace {

// A batch, and the mapping told position by position: deal the positions of the
// sequence to the ranks one by one and count.
struct Batch {
  RankShare share;
  std::vector<int64_t> lengths;  // tokens of each sequence in this batch
  std::vector<int64_t> firsts;   // position of the first of them
  int64_t padding = 0;
};

BlockId TableEntry(size_t sequence, int64_t entry) {
  return static_cast<BlockId>(1 + sequence * 1000 +
                              static_cast<size_t>(entry) * 7 % 1000);
}

std::vector<int64_t> NaiveSlots(const Batch& batch) {
  std::vector<int64_t> slots;
  for (size_t s = 0; s < batch.lengths.size(); ++s) {
    const int64_t end = batch.firsts[s] + batch.lengths[s];
    std::vector<int64_t> rows(static_cast<size_t>(batch.share.ranks), 0);
    for (int64_t p = 0, rank = 0, turn = 0; p < end; ++p) {
      const int64_t row = rows[static_cast<size_t>(rank)]++;
      if (p >= batch.firsts[s]) {
        const int64_t rows_per_page = batch.share.block_tokens;
        slots.push_back(rank == batch.share.rank
                            ? TableEntry(s, row / rows_per_page) *
                                      rows_per_page +
                                  row % rows_per_page
                            : kNoSlot);
      }
      if (++turn == batch.share.interleave) {
        turn = 0;
        rank = (rank + 1) % batch.share.ranks;
      }
    }
  }
  slots.resize(slots.size() + static_cast<size_t>(batch.padding), kNoSlot);
  return slots;
}

std::vector<int64_t> Slots(const Batch& batch) {
  std::vector<int32_t> starts = {0};
  std::vector<int64_t> positions;
  int64_t stride = 0;
  for (size_t s = 0; s < batch.lengths.size(); ++s) {
    for (int64_t i = 0; i < batch.lengths[s]; ++i) {
      positions.push_back(batch.firsts[s] + i);
    }
    starts.push_back(static_cast<int32_t>(positions.size()));
    stride = std::max(
        stride,
        (batch.firsts[s] + batch.lengths[s]) / batch.share.ManagerTokens() + 1);
  }
  std::vector<BlockId> tables;
  for (size_t s = 0; s < batch.lengths.size(); ++s) {
    for (int64_t i = 0; i < stride; ++i) tables.push_back(TableEntry(s, i));
  }
  SlotMappingArgs args;
  args.share = batch.share;
  args.query_starts = starts.data();
  args.block_tables = tables.data();
  args.num_sequences = static_cast<int32_t>(batch.lengths.size());
  args.table_stride = stride;
  args.positions = positions.data();
  args.num_tokens = static_cast<int64_t>(positions.size());
  args.num_padded = args.num_tokens + batch.padding;
  GuardedBuffer slots(args.num_padded * 8);
  args.slots = slots.as<int64_t>();
  EXPECT_TRUE(SlotMappingOnHost(args).ok());
  return {args.slots, args.slots + args.num_padded};
}

TEST(SlotMappingTest, EqualsDealingPositionsOneByOne) {
  for (const int32_t block_tokens : {1, 2, 4, 16}) {
    for (const int32_t ranks : {1, 2, 3, 8}) {
      for (const int32_t interleave : {1, 2, 4, 16}) {
        if (block_tokens % interleave != 0) continue;
        for (int32_t rank = 0; rank < ranks; ++rank) {
          const Batch batch = {{block_tokens, ranks, rank, interleave},
                               {1, 0, 5, 40, 0, 1},
                               {0, 3, 7, 0, 1, 100},
                               3};
          EXPECT_EQ(Slots(batch), NaiveSlots(batch))
              << block_tokens << " tokens, rank " << rank << " of " << ranks
              << ", interleave " << interleave;
        }
      }
    }
  }
}

TEST(SlotMappingTest, RandomBatches) {
  RandomStream random(1, "slot mapping");
  for (int round = 0; round < 300; ++round) {
    Batch batch;
    const auto interleave = static_cast<int32_t>(1 + random.Below(4));
    const auto ranks = static_cast<int32_t>(1 + random.Below(9));
    batch.share = {
        static_cast<int32_t>(interleave * (1 + random.Below(20))), ranks,
        static_cast<int32_t>(random.Below(static_cast<uint64_t>(ranks))),
        interleave};
    for (uint64_t s = random.Below(20); s-- > 0;) {
      batch.lengths.push_back(static_cast<int64_t>(random.Below(60)));
      batch.firsts.push_back(static_cast<int64_t>(random.Below(2000)));
    }
    batch.padding = static_cast<int64_t>(random.Below(9));
    ASSERT_EQ(Slots(batch), NaiveSlots(batch)) << "round " << round;
  }
}

// One rank, block 16: position 37 of a sequence whose third page is 9 is row 5 of
// it: slot 9 * 16 + 5 = 149. With 2 ranks, interleave 1 and the same pages a manager
// block has 32 positions: 37 is the sixth of the second one, rank 1's third: page
// table[1] = 4, slot 4 * 16 + 2 = 66.
TEST(SlotMappingTest, ByHand) {
  const std::vector<int32_t> starts = {0, 1};
  const std::vector<BlockId> table = {3, 4, 9};
  const int64_t position = 37;
  int64_t slot = 0;
  SlotMappingArgs args;
  args.share = {.block_tokens = 16};
  args.query_starts = starts.data();
  args.block_tables = table.data();
  args.num_sequences = 1;
  args.table_stride = 3;
  args.positions = &position;
  args.num_tokens = args.num_padded = 1;
  args.slots = &slot;
  EXPECT_TRUE(SlotMappingOnHost(args).ok());
  EXPECT_EQ(slot, 149);
  args.share = {.block_tokens = 16, .ranks = 2, .rank = 1};
  EXPECT_TRUE(SlotMappingOnHost(args).ok());
  EXPECT_EQ(slot, 66);
  args.share.rank = 0;
  EXPECT_TRUE(SlotMappingOnHost(args).ok());
  EXPECT_EQ(slot, kNoSlot);
}

// Slots of blocks above 2^31 / block_tokens need 64 bits.
TEST(SlotMappingTest, LargeBlocks) {
  const std::vector<int32_t> starts = {0, 1};
  const BlockId block = 2'000'000'000;
  const int64_t position = 255;
  int64_t slot = 0;
  SlotMappingArgs args;
  args.share = {.block_tokens = 256};
  args.query_starts = starts.data();
  args.block_tables = &block;
  args.num_sequences = 1;
  args.table_stride = 1;
  args.positions = &position;
  args.num_tokens = args.num_padded = 1;
  args.slots = &slot;
  EXPECT_TRUE(SlotMappingOnHost(args).ok());
  EXPECT_EQ(slot, int64_t{2'000'000'000} * 256 + 255);
}

std::string Refusal(const SlotMappingArgs& args) {
  return SlotMappingOnHost(args).message;
}

TEST(SlotMappingTest, RefusesWhatItCanSee) {
  SlotMappingArgs args;
  EXPECT_EQ(Refusal(args), "share.block_tokens must be positive");
  args.share.block_tokens = 16;
  args.share.rank = 1;
  EXPECT_EQ(Refusal(args), "share.rank must be in [0, share.ranks)");
  args.share.rank = 0;
  args.share.interleave = 3;
  EXPECT_EQ(Refusal(args), "share.interleave must divide share.block_tokens");
  args.share.interleave = 1;
  args.num_tokens = 1;
  EXPECT_EQ(Refusal(args),
            "num_padded must be at least num_tokens, which must not be "
            "negative");
  args.num_padded = 1;
  EXPECT_EQ(Refusal(args), "tokens belong to no sequence");
}

}  // namespace
}  // namespace kvsim
