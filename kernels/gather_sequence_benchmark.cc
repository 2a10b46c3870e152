// Gathering sequences whose pages lie in random order; copy_benchmark.h says what is
// measured.

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/copy_benchmark.h"
#include "kernels/gather_sequence.h"

namespace kvsim {
namespace {

// 16 sequences of equal length, rows of 256 bytes.
void BM_GatherSequence(benchmark::State& state) {
  constexpr int64_t kSequences = 16;
  constexpr int64_t kRowBytes = 256;
  const int64_t page = state.range(0) << 10;
  const auto page_rows = static_cast<int32_t>(page / kRowBytes);
  const int64_t pages_each = BenchmarkBytes() / page / kSequences;
  const int64_t rows_each = pages_each * page_rows;
  const int64_t bytes = kSequences * pages_each * page;
  const PatternedBytes pool(bytes);
  const PatternedBytes output(bytes);
  std::byte* layer = pool.data();
  const std::vector<BlockId> tables = ShuffledBlocks(kSequences * pages_each);
  const std::vector<int64_t> firsts(kSequences, 0);
  const std::vector<int64_t> ends(kSequences, rows_each);
  std::vector<int64_t> out_starts;
  for (int64_t s = 0; s <= kSequences; ++s) out_starts.push_back(s * rows_each);
  GatherSequenceArgs args;
  args.pages = {&layer, 1, static_cast<int32_t>(tables.size()), page_rows,
                page};
  args.share.block_tokens = page_rows;
  args.row_stride = args.row_bytes = kRowBytes;
  args.block_tables = tables.data();
  args.num_sequences = kSequences;
  args.table_stride = pages_each;
  args.first_positions = firsts.data();
  args.end_positions = ends.data();
  args.out_starts = out_starts.data();
  args.output = output.data();
  args.out_rows = out_starts.back();
  MeasureCopy(state, output.data(), pool.data(), bytes, [&] {
    if (!GatherSequenceOnHost(args).ok()) state.SkipWithError("refused");
  });
}
BENCHMARK(BM_GatherSequence)->Apply(CopiedPages);

}  // namespace
}  // namespace kvsim
