#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "kernels/device_pages.h"
#include "kernels/gather_batch.h"
#include "kernels/gather_sequence.h"
#include "kernels/gpu_test.h"
#include "kernels/paged_buffer.h"

namespace kvsim {
namespace {

using GatherSequenceGpuTest = GpuTest;

constexpr int32_t kBlocks = 200;

GatherBatch RandomBatch(RandomStream& random) {
  GatherBatch batch;
  batch.share = {.block_tokens = 16, .ranks = 2, .rank = 1, .interleave = 4};
  batch.table_stride = 2000 / batch.share.ManagerTokens() + 1;
  for (int s = 0; s < 100; ++s) {
    const int64_t end = random.Between(0, 2000);
    batch.Add(random.Between(0, end), end, s % 3, kBlocks, random);
  }
  return batch;
}

// Rows from a byte to more than a warp's piece, packed and with gaps. The rows that
// nobody fills are zero on both sides.
TEST_F(GatherSequenceGpuTest, EqualsHostTwin) {
  RandomStream random(1, "gather sequence on a device");
  for (const int64_t row_bytes : {1, 132, 656, 1152, 5000}) {
    for (const int64_t gap : {0, 8}) {
      const int64_t stride = row_bytes + gap;
      PagedBuffer host({.num_layers = 2,
                        .num_blocks = kBlocks,
                        .block_tokens = 16,
                        .block_stride = 16 * stride});
      host.Fill(random);
      const GatherBatch batch = RandomBatch(random);
      GatherSequenceArgs args = batch.Args();
      args.pages = host.pages();
      args.row_stride = stride;
      args.row_bytes = row_bytes;
      std::vector<std::byte> expected(
          static_cast<size_t>(2 * args.out_rows * row_bytes));
      args.output = expected.data();
      ASSERT_TRUE(GatherSequenceOnHost(args).ok());

      const DevicePages device(host);
      const DeviceArray<BlockId> tables(batch.tables);
      const DeviceArray<int64_t> firsts(batch.firsts);
      const DeviceArray<int64_t> ends(batch.ends);
      const DeviceArray<int64_t> out_starts(batch.out_starts);
      const DeviceArray<std::byte> output(
          std::vector<std::byte>(expected.size()));
      args.pages = device.pages();
      args.block_tables = tables.data();
      args.first_positions = firsts.data();
      args.end_positions = ends.data();
      args.out_starts = out_starts.data();
      args.output = output.data();
      ASSERT_TRUE(Ran(LaunchGatherSequence(args, {})));
      ASSERT_EQ(output.Download(), expected)
          << "rows of " << row_bytes << ", " << gap << " apart";
    }
  }
}

}  // namespace
}  // namespace kvsim
