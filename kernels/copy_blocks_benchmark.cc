// Copying pages in random order; copy_benchmark.h says what is measured.

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/copy_benchmark.h"
#include "kernels/copy_blocks.h"

namespace kvsim {
namespace {

// From the first half of a pool to the second.
void BM_CopyBlocks(benchmark::State& state) {
  const int64_t page = state.range(0) << 10;
  const int64_t half = BenchmarkBytes() / page;
  const PatternedBytes pool(2 * half * page);
  std::byte* layer = pool.data();
  const std::vector<BlockId> blocks = ShuffledBlocks(half);
  std::vector<BlockPair> pairs;
  for (size_t i = 0; i < blocks.size(); ++i) {
    pairs.push_back({blocks[i], static_cast<BlockId>(
                                    half + blocks[blocks.size() - 1 - i])});
  }
  const CopyBlocksArgs args = {
      .pages = {&layer, 1, static_cast<int32_t>(2 * half), 1, page},
      .pairs = pairs.data(),
      .num_pairs = half,
      .bytes = page};
  MeasureCopy(state, layer + half * page, layer, half * page, [&] {
    if (!CopyBlocksOnHost(args).ok()) state.SkipWithError("refused");
  });
}
BENCHMARK(BM_CopyBlocks)->Apply(CopiedPages);

}  // namespace
}  // namespace kvsim
