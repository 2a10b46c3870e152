// Random programs of page operations, for tests of backends with memory.
//
// Model:      copies, exchanges, swaps and writes of rows, drawn by seed, against a map
//             of what every block must hold. After each operation all rows are read
//             back; now and then with one bit of a stamp changed, which must not pass.
//             Counts must be those of the counting backend.
#ifndef KVSIM_KERNELS_PAGING_PROGRAMS_H_
#define KVSIM_KERNELS_PAGING_PROGRAMS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/page_op.h"
#include "base/random.h"
#include "kernels/null_paging_backend.h"
#include "kernels/paging_backend.h"
#include "kernels/pool_shape.h"

namespace kvsim {

// Eight blocks of four rows of 24 B in pool 0, states in the same blocks in pool 1.
inline std::vector<PoolShape> PagingProgramPools() {
  return {{.name = "full",
           .num_blocks = 8,
           .num_host_blocks = 3,
           .block_tokens = 4,
           .row_bytes = 24,
           .block_bytes = 100},
          {.name = "state",
           .contents = PoolContents::kStates,
           .num_blocks = 8,
           .num_host_blocks = 3,
           .row_bytes = 90,
           .block_bytes = 100}};
}

// What the blocks of pool 0 must hold, by row.
class PagingWorld {
 public:
  using Rows = std::map<int64_t, Stamp>;

  // Draws an operation and does it here; nothing when it has no source.
  std::optional<PageOp> Draw(RandomStream& random) {
    const auto a = static_cast<BlockId>(random.Below(8));
    const auto b = static_cast<BlockId>((a + 1 + random.Below(7)) % 8);
    const auto h = static_cast<BlockId>(random.Below(3));
    switch (random.Below(5)) {
      case 0: {
        const auto row = static_cast<int64_t>(random.Below(4));
        blocks_[a][row] = random.Next();
        return WriteTokens{.sequence = 1,
                           .slots = {int64_t{a} * 4 + row},
                           .stamps = {blocks_[a][row]}};
      }
      case 1:
        blocks_[b] = blocks_[a];
        return CopyBlock{.source = a, .target = b, .rows = 4};
      case 2:
        std::swap(blocks_[a], blocks_[b]);
        return MoveBlocks{.moves = {{a, b}, {b, a}}};
      case 3:
        host_[h] = blocks_[a];
        return SwapBlocks{.blocks = {{a, h}}};
      default:
        if (!host_.contains(h)) return std::nullopt;
        blocks_[b] = host_[h];
        return SwapBlocks{.direction = SwapDirection::kToDevice,
                          .blocks = {{b, h}}};
    }
  }

  // A read of every row there is.
  std::vector<GatherSequence> Reads() const {
    std::vector<GatherSequence> reads;
    for (const auto& [block, rows] : blocks_) {
      for (const auto& [row, stamp] : rows) {
        reads.push_back({.sequence = 1,
                         .first_position = row,
                         .end_position = row + 1,
                         .block_table = {block},
                         .stamps = {stamp}});
      }
    }
    return reads;
  }

 private:
  std::map<BlockId, Rows> blocks_, host_;
};

// `make` gives a backend of PagingProgramPools() in which nothing is written.
inline void RunPagingPrograms(
    uint64_t seeds,
    const std::function<std::unique_ptr<PagingBackend>()>& make) {
  const auto execute = [](PagingBackend& backend, PageOp op) {
    return backend.Execute(std::span(&op, 1));
  };
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    RandomStream random(seed, "page operations");
    const std::unique_ptr<PagingBackend> backend = make();
    NullPagingBackend null(PagingProgramPools());
    PagingWorld world;
    for (int step = 0; step < 60; ++step) {
      const std::optional<PageOp> op = world.Draw(random);
      if (!op.has_value()) continue;
      ASSERT_TRUE(execute(*backend, *op).ok()) << "seed " << seed;
      ASSERT_TRUE(execute(null, *op).ok());
      for (GatherSequence read : world.Reads()) {
        const absl::Status status = execute(*backend, read);
        ASSERT_TRUE(status.ok())
            << "seed " << seed << " step " << step << ": " << status;
        ASSERT_TRUE(execute(null, read).ok());
        if (!random.Chance(0.1)) continue;
        read.stamps[0] ^= uint64_t{1} << random.Below(64);
        ASSERT_EQ(execute(*backend, read).code(), absl::StatusCode::kDataLoss)
            << "seed " << seed << " step " << step;
      }
    }
    EXPECT_EQ(backend->Totals(), null.Totals());
  }
}

}  // namespace kvsim

#endif  // KVSIM_KERNELS_PAGING_PROGRAMS_H_
